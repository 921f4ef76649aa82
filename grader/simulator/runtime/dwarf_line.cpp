#include "runtime/dwarf_line.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/dwarf_cursor.h"
#include "runtime/dwarf_forms.h"

namespace warplings::sim {
namespace {

// Numbers of the DWARF standard, chapter 7.
enum : unsigned {
  kContentPath = 1,
  kContentDirectoryIndex = 2,
};
enum : uint8_t {
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
  kExtendedEndSequence = 1,
  kExtendedSetAddress = 2,
};

struct FileEntry {
  std::string path;
  uint64_t directory = 0;
};

class Reader {
 public:
  Reader(const ElfImage& image, uint64_t offset)
      : image_(image), cursor_(image.section(".debug_line"), offset) {}

  LineTable read() {
    if (!read_header()) return {};
    while (!cursor_.at_end()) step();
    // Sequences come in any order; inside one, addresses only rise. An end marker sorts before a
    // row at the same address, so that the row wins.
    std::stable_sort(table_.rows.begin(), table_.rows.end(),
                     [](const LineRow& a, const LineRow& b) {
                       if (a.address != b.address) return a.address < b.address;
                       return a.line < 0 && b.line >= 0;
                     });
    return std::move(table_);
  }

 private:
  bool read_header() {
    const uint64_t length = cursor_.unit_length(&wide_);
    cursor_.limit(cursor_.position() + length);
    version_ = cursor_.u16();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ >= 5) cursor_.skip(2);  // sizes of an address and of a segment selector
    const uint64_t header_length = offset_value();
    const uint64_t program = cursor_.position() + header_length;
    minimum_instruction_ = cursor_.u8();
    if (version_ >= 4) cursor_.skip(1);  // operations per VLIW instruction
    cursor_.skip(1);                     // default of is_stmt
    line_base_ = static_cast<int8_t>(cursor_.u8());
    line_range_ = cursor_.u8();
    opcode_base_ = cursor_.u8();
    for (unsigned i = 1; i < opcode_base_; ++i) operand_counts_.push_back(cursor_.u8());
    version_ >= 5 ? read_names_5() : read_names_4();
    cursor_.seek(program);
    return !cursor_.failed() && line_range_ != 0;
  }

  uint64_t offset_value() { return wide_ ? cursor_.u64() : cursor_.u32(); }

  std::string_view text_at(const char* section, uint64_t offset) {
    return DwarfCursor(image_.section(section), offset).string();
  }

  std::vector<FileEntry> read_entries() {
    std::vector<std::pair<uint64_t, uint64_t>> formats(cursor_.u8());
    for (auto& [content, form] : formats) {
      content = cursor_.uleb();
      form = cursor_.uleb();
    }
    std::vector<FileEntry> entries;
    const uint64_t count = cursor_.uleb();
    for (uint64_t i = 0; i < count && !cursor_.failed(); ++i) {
      FileEntry entry;
      for (const auto& [content, form] : formats) read_content(content, form, &entry);
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  void read_content(uint64_t content, uint64_t form, FileEntry* entry) {
    std::string_view text;
    uint64_t number = 0;
    switch (form) {
      case kFormString:
        text = cursor_.string();
        break;
      case kFormLineStrp:
        text = text_at(".debug_line_str", offset_value());
        break;
      case kFormStrp:
        text = text_at(".debug_str", offset_value());
        break;
      case kFormUdata:
        number = cursor_.uleb();
        break;
      case kFormData1:
        number = cursor_.u8();
        break;
      case kFormData2:
        number = cursor_.u16();
        break;
      case kFormData4:
        number = cursor_.u32();
        break;
      case kFormData8:
        number = cursor_.u64();
        break;
      case kFormData16:
        cursor_.skip(16);
        break;
      case kFormBlock:
        cursor_.skip(cursor_.uleb());
        break;
      default:
        cursor_.seek(~uint64_t{0});
        break;  // unknown: give the table up
    }
    if (content == kContentPath) entry->path = std::string(text);
    if (content == kContentDirectoryIndex) entry->directory = number;
  }

  void read_names_5() {
    const std::vector<FileEntry> directories = read_entries();
    for (const FileEntry& file : read_entries()) {
      std::string directory;
      if (file.directory < directories.size()) directory = directories[file.directory].path;
      // Directory 0 is that of the compilation; names relative to it stay as they were written.
      add_file(file.path, file.directory == 0 ? std::string() : directory);
    }
  }

  void read_names_4() {
    std::vector<std::string> directories{""};
    for (;;) {
      const std::string_view directory = cursor_.string();
      if (directory.empty()) break;
      directories.emplace_back(directory);
    }
    table_.files.emplace_back();  // files count from 1
    for (;;) {
      const std::string_view path = cursor_.string();
      if (path.empty()) break;
      const uint64_t directory = cursor_.uleb();
      cursor_.uleb();  // time
      cursor_.uleb();  // size
      add_file(std::string(path), directory < directories.size() ? directories[directory] : "");
    }
  }

  void add_file(const std::string& path, const std::string& directory) {
    const bool stands_alone = directory.empty() || (!path.empty() && path[0] == '/');
    table_.files.push_back(stands_alone ? path : directory + "/" + path);
  }

  void emit(int line) { table_.rows.push_back({address_, file_, line}); }

  void restart() {
    address_ = 0;
    file_ = 1;
    line_ = 1;
  }

  void advance(uint64_t operations) { address_ += operations * minimum_instruction_; }

  void step() {
    const uint8_t opcode = cursor_.u8();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      advance(adjusted / line_range_);
      line_ += line_base_ + static_cast<int>(adjusted % line_range_);
      emit(line_);
      return;
    }
    switch (opcode) {
      case 0:
        step_extended();
        break;
      case kCopy:
        emit(line_);
        break;
      case kAdvancePc:
        advance(cursor_.uleb());
        break;
      case kAdvanceLine:
        line_ += static_cast<int>(cursor_.sleb());
        break;
      case kSetFile:
        file_ = static_cast<uint32_t>(cursor_.uleb());
        break;
      case kConstAddPc:
        advance((255u - opcode_base_) / line_range_);
        break;
      case kFixedAdvancePc:
        address_ += cursor_.u16();
        break;
      default:  // operands of the others do not matter here
        for (unsigned i = 0; i < operand_counts_[opcode - 1u]; ++i) cursor_.uleb();
    }
  }

  void step_extended() {
    const uint64_t length = cursor_.uleb();
    const uint64_t next = cursor_.position() + length;
    const uint8_t opcode = cursor_.u8();
    if (opcode == kExtendedEndSequence) {
      emit(-1);
      restart();
    } else if (opcode == kExtendedSetAddress) {
      address_ = cursor_.sized(static_cast<unsigned>(length - 1));
    }
    cursor_.seek(next);
  }

  const ElfImage& image_;
  DwarfCursor cursor_;
  LineTable table_;
  bool wide_ = false;
  unsigned version_ = 0;
  unsigned minimum_instruction_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 0;
  unsigned opcode_base_ = 0;
  std::vector<uint8_t> operand_counts_;
  uint64_t address_ = 0;
  uint32_t file_ = 1;
  int line_ = 1;
};

}  // namespace

LineTable read_line_table(const ElfImage& image, uint64_t offset) {
  return Reader(image, offset).read();
}

}  // namespace warplings::sim
