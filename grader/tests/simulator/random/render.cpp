// A program as PTX, and what its output consists of.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "program.h"

namespace warplings::sim::random {
namespace {

constexpr uint32_t kOwnBytes = 16;  // the thread's own cells for atomics: 32 bits, 64 bits

std::string name_of(const RegisterKind& kind, int i) { return kind.prefix + std::to_string(i); }
int stored_bytes(const RegisterKind& kind) { return kind.bytes == 8 ? 8 : 4; }

uint32_t registers_bytes() {
  uint32_t bytes = 0;
  for (const RegisterKind& k : kKinds) bytes += static_cast<uint32_t>(k.count * stored_bytes(k));
  return bytes;
}

bool names(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0) return true;
  }
  return false;
}

class Renderer {
 public:
  Renderer(const Program& program, const Selection& selection)
      : program_(program), selection_(selection) {}

  std::string text() {
    for (const Unit& unit : program_.units) render(unit, "  ");
    store();
    out_ << "  ret;\n}\n";
    const std::string body = out_.str();
    out_.str("");
    header(body);
    out_ << body;
    return out_.str();
  }

 private:
  void line(const std::string& text) { out_ << "  " << text << "\n"; }

  void declarations() {
    line(".reg .b64 %in, %out, %own, %cells, %at, %local_at, %table_at, %in_word;");
    line(".reg .b32 %tid_x, %ntid_x, %ctaid_x, %thread, %slot, %exchange, %word;");
    line(".reg .pred %first;");
    for (size_t i = 0; i < kKinds.size(); ++i) {
      const RegisterKind& kind = kKinds[i];
      line(std::string(".reg ") + kind.type + " " + kind.prefix + "<" + std::to_string(kind.count) +
           ">;");
      if (program_.temporaries[i] == 0) continue;
      line(std::string(".reg ") + kind.type + " %t" + kind.letter + "<" +
           std::to_string(program_.temporaries[i]) + ">;");
    }
    if (!program_.approximate.empty()) {
      line(".reg .f32 %near<" + std::to_string(program_.approximate.size()) + ">;");
    }
    const std::string units = "<" + std::to_string(program_.unit_count) + ">;";
    line(".reg .b32 %mask" + units);
    line(".reg .b32 %trips" + units);
    line(".reg .pred %again" + units);
  }

  void header(const std::string& body) {
    const bool sm_90 = program_.needs_sm_90;
    out_ << ".version 8.0\n.target " << (sm_90 ? "sm_90" : "sm_80") << "\n.address_size 64\n";
    const bool table = body.find("%table_at") != std::string::npos;
    if (table) {
      out_ << ".const .align 16 .b32 table[16] = {0, 1, 0x80000000, 0xffffffff, 0x7f, 0x80, "
              "0x8000, 0x7fff, 0x12345678, 0xdeadbeef, 0x00ff00ff, 0xff00ff00, 42, 0xffff0000, "
              "0x7fffffff, 3};\n";
    }
    out_ << ".visible .entry random_" << program_.seed << "(.param .u64 input, .param .u64 output)"
         << "\n.maxntid " << program_.block << ", 1, 1\n{\n";
    declarations();
    const bool local = body.find("%local_at") != std::string::npos;
    if (local) line(".local .align 16 .b8 local[" + std::to_string(kLocalBytes) + "];");
    const bool shared = body.find("%slot") != std::string::npos;
    if (shared) {
      line(".shared .align 16 .b8 exchange[" + std::to_string(program_.block * kSharedSlotBytes) +
           "];");
    }
    if (body.find("[cells") != std::string::npos) line(".shared .align 16 .b8 cells[16];");
    addresses(shared);
    if (table) line("mov.u64 %table_at, table;");
    if (local) {
      line("mov.u64 %local_at, local;");
      for (uint32_t i = 0; i < kLocalBytes; i += 8) {
        line("st.local.b64 [%local_at+" + std::to_string(i) + "], " + std::to_string(i) + ";");
      }
    }
    load(body);
  }

  void addresses(bool shared) {
    const std::string slot = std::to_string(slot_bytes(program_));
    line("mov.u32 %tid_x, %tid.x;");
    line("mov.u32 %ntid_x, %ntid.x;");
    line("mov.u32 %ctaid_x, %ctaid.x;");
    line("mad.lo.u32 %thread, %ctaid_x, %ntid_x, %tid_x;");
    line("setp.eq.u32 %first, %tid_x, 0;");
    line("ld.param.u64 %cells, [output];");
    line("cvta.to.global.u64 %cells, %cells;");
    line("mul.wide.u32 %at, %thread, " + slot + ";");
    line("add.u64 %out, %cells, %at;");
    line("add.u64 %out, %out, " + std::to_string(kCells * kCellBytes) + ";");
    line("add.u64 %own, %out, " + std::to_string(slot_bytes(program_) - kOwnBytes) + ";");
    line("ld.param.u64 %in, [input];");
    line("cvta.to.global.u64 %in, %in;");
    line("add.u64 %in, %in, %at;");
    line("ld.global.u64 %in_word, [%in];");
    if (!shared) return;
    line("mov.u32 %exchange, exchange;");
    line("mad.lo.u32 %slot, %tid_x, " + std::to_string(kSharedSlotBytes) + ", %exchange;");
  }

  // The registers that the body uses: all of them in a whole kernel, few in one made small.
  void load(const std::string& body) {
    uint32_t offset = 0;
    for (const RegisterKind& kind : kKinds) {
      for (int i = 0; i < kind.count; ++i) {
        const std::string at = "[%in+" + std::to_string(offset) + "];";
        offset += static_cast<uint32_t>(stored_bytes(kind));
        if (!names(body, name_of(kind, i))) continue;
        if (kind.bytes == 0) {
          line("ld.global.u32 %word, " + at);
          line("and.b32 %word, %word, 1;");
          line("setp.ne.u32 " + name_of(kind, i) + ", %word, 0;");
        } else {
          line(std::string("ld.global") + (kind.bytes == 2 ? ".b16" : kind.type) + " " +
               name_of(kind, i) + ", " + at);
        }
      }
    }
    for (const Approximate& value : program_.approximate) {
      if (names(body, value.name)) line("mov.f32 " + value.name + ", 0f00000000;");
    }
  }

  void store() {
    const std::vector<Element> elements = elements_of(program_);
    size_t index = 0;
    for (const RegisterKind& kind : kKinds) {
      for (int i = 0; i < kind.count; ++i, ++index) {
        if (!selection_.elements[index]) continue;
        const std::string at = "[%out+" + std::to_string(elements[index].offset) + "], ";
        if (kind.bytes == 0) {
          line("selp.u32 %word, 1, 0, " + name_of(kind, i) + ";");
          line("st.global.u32 " + at + "%word;");
        } else {
          line(std::string("st.global") + kind.type + " " + at + name_of(kind, i) + ";");
        }
      }
    }
    for (const Approximate& value : program_.approximate) {
      if (selection_.elements[index]) {
        line("st.global.f32 [%out+" + std::to_string(elements[index].offset) + "], " + value.name +
             ";");
      }
      ++index;
    }
  }

  void render(const Unit& unit, const std::string& indent) {
    if (!selection_.alive[static_cast<size_t>(unit.id)]) return;
    const std::string id = std::to_string(unit.id);
    if (unit.type == Unit::Type::kCode) {
      for (const std::string& text : unit.lines) out_ << indent << text << "\n";
      return;
    }
    const bool is_loop = unit.type == Unit::Type::kLoop;
    if (is_loop) {
      // 1 to 8 trips, as many as the thread's register says.
      out_ << indent << "and.b32 %trips" << id << ", " << unit.condition << ", 7;\n$loop" << id
           << ":\n";
    } else {
      if (unit.with_mask) {
        out_ << indent << "vote.sync.ballot.b32 %mask" << id << ", " << unit.condition
             << ", 0xffffffff;\n";
      }
      out_ << indent << "@!" << unit.condition << " bra $end" << id << ";\n";
    }
    for (const Unit& inner : unit.body) render(inner, indent + "  ");
    if (is_loop) {
      out_ << indent << "setp.ne.u32 %again" << id << ", %trips" << id << ", 0;\n"
           << indent << "sub.u32 %trips" << id << ", %trips" << id << ", 1;\n"
           << indent << "@%again" << id << " bra $loop" << id << ";\n";
    } else {
      out_ << "$end" << id << ":\n";
    }
  }

  const Program& program_;
  const Selection& selection_;
  std::ostringstream out_;
};

}  // namespace

Selection Selection::all(const Program& program) {
  Selection selection;
  selection.alive.assign(static_cast<size_t>(program.unit_count), true);
  selection.elements.assign(elements_of(program).size(), true);
  return selection;
}

// Registers, then results of .approx instructions, then the thread's own cells.
std::vector<Element> elements_of(const Program& program) {
  std::vector<Element> elements;
  uint32_t offset = 0;
  const auto add = [&](const std::string& name, uint32_t bytes) -> Element& {
    elements.push_back({name, offset, bytes, 0, 0});
    offset += std::max(bytes, 4u);
    return elements.back();
  };
  for (const RegisterKind& kind : kKinds) {
    for (int i = 0; i < kind.count; ++i) {
      add(name_of(kind, i), kind.bytes == 0 ? 4 : static_cast<uint32_t>(kind.bytes));
    }
  }
  for (const Approximate& value : program.approximate) {
    Element& element = add(value.name, 4);
    element.relative = value.relative;
    element.absolute = value.absolute;
  }
  offset = slot_bytes(program) - kOwnBytes;
  add("the 32-bit cell of the thread", 4);
  offset += 4;
  add("the 64-bit cell of the thread", 8);
  return elements;
}

uint32_t slot_bytes(const Program& program) {
  const auto near = static_cast<uint32_t>(4 * program.approximate.size());
  return (registers_bytes() + near + kOwnBytes + 15) / 16 * 16;
}

size_t output_bytes(const Program& program) {
  return kCells * kCellBytes + size_t{program.threads()} * slot_bytes(program);
}

std::string text_of(const Program& program, const Selection& selection) {
  return Renderer(program, selection).text();
}

Fixture fixture_of(const Program& program, const Selection& selection) {
  Fixture fixture;
  fixture.path = "random_" + std::to_string(program.seed) + ".ptx";
  fixture.text = text_of(program, selection);
  fixture.has_input = true;
  fixture.input = input_of(program);
  fixture.grid[0] = program.grid;
  fixture.block[0] = program.block;
  return fixture;
}

}  // namespace warplings::sim::random
