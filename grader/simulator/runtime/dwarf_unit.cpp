#include "runtime/dwarf_unit.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/dwarf_cursor.h"
#include "runtime/dwarf_forms.h"

namespace warplings::sim {
namespace {

// Numbers of the DWARF standard, chapter 7.
enum : uint64_t {
  kTagInlinedSubroutine = 0x1d,
  kAtStmtList = 0x10,
  kAtLowPc = 0x11,
  kAtHighPc = 0x12,
  kAtRanges = 0x55,
  kAtCallFile = 0x58,
  kAtCallLine = 0x59,
};
enum : uint8_t {
  kRangeEnd = 0,
  kRangeOffsetPair = 4,
  kRangeBaseAddress = 5,
  kRangeStartEnd = 6,
  kRangeStartLength = 7,
};

}  // namespace

struct DieAttribute {
  uint64_t name, form;
  int64_t implicit;
};

struct DieAbbreviation {
  uint64_t tag = 0;
  std::vector<DieAttribute> attributes;
};

using Abbreviations = std::unordered_map<uint64_t, DieAbbreviation>;

static Abbreviations read_abbreviations(const ElfImage& image, uint64_t offset) {
  Abbreviations result;
  DwarfCursor cursor(image.section(".debug_abbrev"), offset);
  while (!cursor.at_end()) {
    const uint64_t code = cursor.uleb();
    if (code == 0) break;
    DieAbbreviation& abbreviation = result[code];
    abbreviation.tag = cursor.uleb();
    cursor.skip(1);  // whether it has children: nesting follows from address ranges
    for (;;) {
      DieAttribute attribute{cursor.uleb(), cursor.uleb(), 0};
      if (attribute.form == kFormImplicitConst) attribute.implicit = cursor.sleb();
      if ((attribute.name == 0 && attribute.form == 0) || cursor.failed()) break;
      abbreviation.attributes.push_back(attribute);
    }
  }
  return result;
}

class DieReader {
 public:
  DieReader(const ElfImage& image, DwarfUnit* unit) : image_(image), unit_(unit) {}

  // Reads every entry of the unit; keeps the inlined calls.
  void run(uint64_t offset) {
    cursor_ = DwarfCursor(image_.section(".debug_info"), offset);
    if (!read_header()) return;
    while (!cursor_.at_end()) {
      const uint64_t code = cursor_.uleb();
      if (code == 0) continue;  // end of a list of children
      const auto abbreviation = abbreviations_.find(code);
      if (abbreviation == abbreviations_.end()) return;
      read_entry(abbreviation->second);
    }
  }

 private:
  struct Values {
    uint64_t low = 0, high = 0, ranges = 0, file = 0, line = 0, lines = 0;
    bool has_low = false, high_is_length = false, has_ranges = false, has_lines = false;
  };

  bool read_header() {
    const uint64_t length = cursor_.unit_length(&wide_);
    cursor_.limit(cursor_.position() + length);
    version_ = cursor_.u16();
    uint64_t abbreviations = 0;
    if (version_ >= 5) {
      const uint8_t type = cursor_.u8();
      address_size_ = cursor_.u8();
      abbreviations = offset_value();
      if (type != 1 && type != 3) return false;  // neither a full nor a partial unit
    } else {
      abbreviations = offset_value();
      address_size_ = cursor_.u8();
    }
    if (cursor_.failed() || version_ < 2 || version_ > 5) return false;
    abbreviations_ = read_abbreviations(image_, abbreviations);
    return true;
  }

  uint64_t offset_value() { return wide_ ? cursor_.u64() : cursor_.u32(); }

  // The value of a form where it is a number, else 0; always moves past it.
  uint64_t read_form(uint64_t form, int64_t implicit) {
    switch (form) {
      case kFormAddr:
        return cursor_.sized(address_size_);
      case kFormData1:
      case kFormFlag:
      case kFormRef1:
        return cursor_.u8();
      case kFormData2:
      case kFormRef2:
        return cursor_.u16();
      case kFormData4:
      case kFormRef4:
      case kFormRefSup4:
        return cursor_.u32();
      case kFormData8:
      case kFormRef8:
      case kFormRefSig8:
      case kFormRefSup8:
        return cursor_.u64();
      case kFormData16:
        cursor_.skip(16);
        return 0;
      case kFormUdata:
      case kFormRefUdata:
      case kFormStrx:
      case kFormAddrx:
      case kFormLoclistx:
      case kFormRnglistx:
        return cursor_.uleb();
      case kFormSdata:
        return static_cast<uint64_t>(cursor_.sleb());
      case kFormString:
        cursor_.string();
        return 0;
      case kFormStrp:
      case kFormLineStrp:
      case kFormSecOffset:
      case kFormStrpSup:
      case kFormRefAddr:
        return offset_value();
      case kFormBlock1:
        cursor_.skip(cursor_.u8());
        return 0;
      case kFormBlock2:
        cursor_.skip(cursor_.u16());
        return 0;
      case kFormBlock4:
        cursor_.skip(cursor_.u32());
        return 0;
      case kFormBlock:
      case kFormExprloc:
        cursor_.skip(cursor_.uleb());
        return 0;
      case kFormFlagPresent:
        return 1;
      case kFormImplicitConst:
        return static_cast<uint64_t>(implicit);
      default:
        break;
    }
    if (form >= kFormStrx1 && form <= kFormStrx4)
      cursor_.skip(form - kFormStrx1 + 1);
    else if (form >= kFormAddrx1 && form <= kFormAddrx4)
      cursor_.skip(form - kFormAddrx1 + 1);
    else
      cursor_.seek(~uint64_t{0});  // unknown form: its size is unknown, stop here
    return 0;
  }

  void read_entry(const DieAbbreviation& abbreviation) {
    Values values;
    for (const DieAttribute& attribute : abbreviation.attributes) {
      const uint64_t value = read_form(attribute.form, attribute.implicit);
      switch (attribute.name) {
        case kAtLowPc:
          values.low = value;
          values.has_low = true;
          break;
        case kAtHighPc:
          values.high = value;
          values.high_is_length = attribute.form != kFormAddr;
          break;
        case kAtRanges:
          values.ranges = value;
          values.has_ranges = attribute.form == kFormSecOffset || attribute.form == kFormData4;
          break;
        case kAtCallFile:
          values.file = value;
          break;
        case kAtCallLine:
          values.line = value;
          break;
        case kAtStmtList:
          values.lines = value;
          values.has_lines = true;
          break;
        default:
          break;
      }
    }
    if (cursor_.failed()) return;
    if (values.has_lines && first_) {
      unit_->lines_ = read_line_table(image_, values.lines);
      base_ = values.low;
    }
    first_ = false;
    if (abbreviation.tag == kTagInlinedSubroutine) add_call(values);
  }

  void add_call(const Values& values) {
    const auto add = [&](uint64_t low, uint64_t high) {
      unit_->calls_.push_back(
          {low, high, static_cast<uint32_t>(values.file), static_cast<int>(values.line)});
    };
    if (values.has_ranges) {
      version_ >= 5 ? read_ranges_5(values.ranges, add) : read_ranges_4(values.ranges, add);
    } else if (values.has_low) {
      add(values.low, values.high_is_length ? values.low + values.high : values.high);
    }
  }

  template <class Add>
  void read_ranges_5(uint64_t offset, Add add) {
    DwarfCursor cursor(image_.section(".debug_rnglists"), offset);
    uint64_t base = base_;
    while (!cursor.at_end()) {
      const uint8_t kind = cursor.u8();
      if (kind == kRangeOffsetPair) {
        const uint64_t low = cursor.uleb();
        add(base + low, base + cursor.uleb());
      } else if (kind == kRangeBaseAddress) {
        base = cursor.sized(address_size_);
      } else if (kind == kRangeStartEnd) {
        const uint64_t low = cursor.sized(address_size_);
        add(low, cursor.sized(address_size_));
      } else if (kind == kRangeStartLength) {
        const uint64_t low = cursor.sized(address_size_);
        add(low, low + cursor.uleb());
      } else {
        return;  // the end, or a form through .debug_addr, which GCC does not write here
      }
    }
  }

  template <class Add>
  void read_ranges_4(uint64_t offset, Add add) {
    DwarfCursor cursor(image_.section(".debug_ranges"), offset);
    uint64_t base = base_;
    while (!cursor.at_end()) {
      const uint64_t low = cursor.sized(address_size_), high = cursor.sized(address_size_);
      if (low == 0 && high == 0) return;
      if (low == ~uint64_t{0})
        base = high;
      else
        add(base + low, base + high);
    }
  }

  const ElfImage& image_;
  DwarfUnit* unit_;
  DwarfCursor cursor_;
  Abbreviations abbreviations_;
  bool wide_ = false;
  unsigned version_ = 0;
  unsigned address_size_ = 8;
  uint64_t base_ = 0;
  bool first_ = true;
};

DwarfUnit::DwarfUnit(const ElfImage& image, uint64_t offset) { DieReader(image, this).run(offset); }

Position DwarfUnit::position(uint32_t file, int line) const {
  if (file >= lines_.files.size() || line <= 0) return {};
  return {lines_.files[file], line};
}

Position DwarfUnit::line_of(uint64_t address) const {
  auto after = std::upper_bound(lines_.rows.begin(), lines_.rows.end(), address,
                                [](uint64_t a, const LineRow& row) { return a < row.address; });
  // Line 0 marks compiler-made instructions: the row before them is the statement they belong to.
  while (after != lines_.rows.begin()) {
    --after;
    if (after->line < 0) return {};
    if (after->line > 0) return position(after->file, after->line);
  }
  return {};
}

std::vector<Position> DwarfUnit::inlined_at(uint64_t address) const {
  std::vector<Position> result;
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (address >= call->low && address < call->high) {
      result.push_back(position(call->file, call->line));
    }
  }
  return result;
}

bool find_unit(const ElfImage& image, uint64_t address, uint64_t* offset) {
  const std::string_view section = image.section(".debug_aranges");
  DwarfCursor cursor(section, 0);
  while (!cursor.at_end()) {
    const uint64_t start = cursor.position();
    bool wide = false;
    const uint64_t length = cursor.unit_length(&wide);
    const uint64_t end = cursor.position() + length;
    cursor.skip(2);  // version
    const uint64_t unit = wide ? cursor.u64() : cursor.u32();
    const unsigned address_size = cursor.u8();
    cursor.skip(1);  // size of a segment selector
    const uint64_t tuple = 2 * uint64_t{address_size};
    if (cursor.failed() || tuple == 0) return false;
    cursor.seek(start + (cursor.position() - start + tuple - 1) / tuple * tuple);
    while (!cursor.failed() && cursor.position() < end) {
      const uint64_t low = cursor.sized(address_size), size = cursor.sized(address_size);
      if (low == 0 && size == 0) break;
      if (address - low < size) {
        *offset = unit;
        return true;
      }
    }
    cursor.seek(end);
  }
  return false;
}

}  // namespace warplings::sim
