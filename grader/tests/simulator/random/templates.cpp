#include "templates.h"

#include <cmath>

namespace warplings::sim::random {
namespace {

constexpr bool kNanIsDefined = true;  // Template::nan_is_defined

void add_integer(std::vector<Template>& all) {
  for (const char* text : {
           "<add|sub|mul.lo|mul.hi|min|max>.<u32|s32> @r, $r, ?r;",
           "<add|sub>.sat.s32 @r, $r, ?r;",
           "mad.<lo|hi>.<u32|s32> @r, $r, $r, ?r;",
           "mad.hi.sat.s32 @r, $r, $r, $r;",
           "mul.wide.<u32|s32> @l, $r, ?r;",
           "mul.wide.<u16|s16> @r, $h, $h;",
           "mad.wide.<u32|s32> @l, $r, $r, $l;",
           "mad.wide.<u16|s16> @r, $h, $h, $r;",
           "<abs|neg>.s32 @r, $r;",
           "sad.<u32|s32> @r, $r, $r, $r;",
           "mul24.<lo|hi>.<u32|s32> @r, $r, $r;",
           "mad24.<lo|hi>.<u32|s32> @r, $r, $r, $r;",
           "mad24.hi.sat.s32 @r, $r, $r, $r;",
           "dp4a.<u32|s32>.<u32|s32> @r, $r, $r, $r;",
           "dp2a.<lo|hi>.<u32|s32>.<u32|s32> @r, $r, $r, $r;",
           "or.b32 #r0, $r, 1; <div|rem>.<u32|s32> @r, $r, #r0;",
           "<add|sub|mul.lo|mul.hi|min|max>.<u16|s16> @h, $h, ?h;",
           "mad.<lo|hi>.<u16|s16> @h, $h, $h, $h;",
           "<abs|neg>.s16 @h, $h;",
           "sad.<u16|s16> @h, $h, $h, $h;",
           "or.b16 #h0, $h, 1; <div|rem>.<u16|s16> @h, $h, #h0;",
       }) {
    all.push_back({Family::kInteger, text});
  }
  for (const char* text : {
           "<add|sub|mul.lo|mul.hi|min|max>.<u64|s64> @l, $l, ?l;",
           "mad.<lo|hi>.<u64|s64> @l, $l, $l, $l;",
           "<abs|neg>.s64 @l, $l;",
           "sad.<u64|s64> @l, $l, $l, $l;",
           "or.b64 #l0, $l, 1; <div|rem>.<u64|s64> @l, $l, #l0;",
       }) {
    all.push_back({Family::kInteger64, text});
  }
  for (const char* text : {
           "add.cc.<u32|s32> @r, $r, $r; addc.cc.u32 @r, $r, $r; addc.<u32|s32> @r, $r, $r;",
           "sub.cc.<u32|s32> @r, $r, $r; subc.cc.u32 @r, $r, $r; subc.<u32|s32> @r, $r, $r;",
           "mad.lo.cc.<u32|s32> @r, $r, $r, $r; madc.hi.<u32|s32> @r, $r, $r, $r;",
           "mad.hi.cc.<u32|s32> @r, $r, $r, $r; madc.lo.cc.u32 @r, $r, $r, $r; addc.u32 @r, $r, 0;",
           "add.cc.<u64|s64> @l, $l, $l; addc.<u64|s64> @l, $l, $l;",
           "sub.cc.<u64|s64> @l, $l, $l; subc.<u64|s64> @l, $l, $l;",
           "mad.lo.cc.u64 @l, $l, $l, $l; madc.hi.u64 @l, $l, $l, $l;",
       }) {
    all.push_back({Family::kCarry, text});
  }
}

void add_logic(std::vector<Template>& all) {
  for (const char* text : {
           "<and|or|xor>.b32 @r, $r, ?r;",
           "<and|or|xor>.b64 @l, $l, ?l;",
           "<and|or|xor>.b16 @h, $h, ?h;",
           "<and|or|xor>.pred @p, $p, $p;",
           "not.pred @p, $p;",
           "<not|cnot>.b32 @r, $r;",
           "<not|cnot>.b64 @l, $l;",
           "<not|cnot>.b16 @h, $h;",
           "<shl.b32|shr.b32|shr.u32|shr.s32> @r, $r, ?r;",
           "<shl.b32|shr.u32|shr.s32> @r, $r, !n;",
           "<shl.b64|shr.b64|shr.u64|shr.s64> @l, $l, ?r;",
           "<shl.b64|shr.u64|shr.s64> @l, $l, !n;",
           "<shl.b16|shr.b16|shr.u16|shr.s16> @h, $h, !k;",
           "<shl.b16|shr.u16|shr.s16> @h, $h, $r;",
           "shf.<l|r>.<clamp|wrap>.b32 @r, $r, $r, ?r;",
           "lop3.b32 @r, $r, $r, $r, !b;",
           "prmt.b32 @r, $r, $r, ?r;",
           "prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16> @r, $r, $r, $r;",
           "bfe.<u32|s32> @r, $r, $r, $r;",
           "bfe.<u32|s32> @r, $r, !n, !n;",
           "bfe.<u64|s64> @l, $l, !n, !n;",
           "bfe.<u64|s64> @l, $l, $r, $r;",
           "bfi.b32 @r, $r, $r, !n, !n;",
           "bfi.b32 @r, $r, $r, $r, $r;",
           "bfi.b64 @l, $l, $l, !n, !n;",
           "bfi.b64 @l, $l, $l, $r, $r;",
           "<popc|clz|brev>.b32 @r, $r;",
           "<popc|clz>.b64 @r, $l;",
           "brev.b64 @l, $l;",
           "bfind<|.shiftamt>.<u32|s32> @r, $r;",
           "bfind<|.shiftamt>.<u64|s64> @r, $l;",
           "bmsk.<clamp|wrap>.b32 @r, $r, $r;",
           "szext.<clamp|wrap>.<u32|s32> @r, $r, $r;",
       }) {
    all.push_back({Family::kLogic, text});
  }
}

void add_compare(std::vector<Template>& all) {
  for (const char* text : {
           "setp.<eq|ne|lt|le|gt|ge>.<u32|s32> @p, $r, ?r;",
           "setp.<lo|ls|hi|hs>.u32 @p, $r, $r;",
           "setp.<eq|ne|lt|le|gt|ge>.<u64|s64> @p, $l, $l;",
           "setp.<eq|ne|lt|le|gt|ge>.<u16|s16> @p, $h, $h;",
           "setp.<eq|ne>.b32 @p, $r, $r;",
           "setp.<lt|ge>.<and|or|xor>.s32 @p|@p, $r, $r, $p;",
           "setp.<eq|gt>.<and|or|xor>.u64 @p|@p, $l, $l, !$p;",
           "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 @p, $f, ?f;",
           "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64 @p, $d, ?d;",
           "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16 @p, $a, $a;",
           "setp.<lt|geu>.<and|or|xor>.f32 @p|@p, $f, $f, $p;",
           "set.<eq|lt|ge|ne>.<u32|s32>.<u32|s32> @r, $r, $r;",
           "set.<eq|lt|ge|ltu|nan>.<u32|s32>.f32 @r, $f, $f;",
           "set.<lt|neu>.<and|or|xor>.u32.f32 @r, $f, $f, $p;",
           "set.<gt|le>.<u32|s32>.<u64|s64> @r, $l, $l;",
           "set.<gt|equ>.u32.f64 @r, $d, $d;",
           "selp.b32 @r, $r, ?r, $p;",
           "selp.b64 @l, $l, $l, $p;",
           "selp.b16 @h, $h, $h, $p;",
           "slct.<u32|s32|b32>.s32 @r, $r, $r, $r;",
           "slct<|.ftz>.<u32|s32>.f32 @r, $r, $r, $f;",
           "slct.<u64|s64>.s32 @l, $l, $l, $r;",
           "testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 @p, $f;",
           "testp.<finite|infinite|number|notanumber|normal|subnormal>.f64 @p, $d;",
       }) {
    all.push_back({Family::kCompare, text});
  }
  for (const char* text : {
           "set.<lt|ge|equ>.f32.f32 @f, $f, $f;",
           "selp.f32 @f, $f, ?f, $p;",
           "selp.f64 @d, $d, $d, $p;",
           "slct.f32.s32 @f, $f, $f, $r;",
           "slct.f64.f32 @d, $d, $d, $f;",
       }) {
    all.push_back({Family::kCompare, text, Where::kAnywhere, kNanIsDefined});
  }
  all.push_back(
      {Family::kCompare, "setp.<eq|lt|geu|nan>.bf16 @p, $b, $b;", Where::kAnywhere, false, true});
}

void add_float(std::vector<Template>& all) {
  for (const char* text : {
           "<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 @f, $f, ?f;",
           "fma<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 @f, $f, $f, ?f;",
           "mad<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 @f, $f, $f, $f;",
           "<min|max><|.ftz><|.NaN>.f32 @f, $f, ?f;",
       }) {
    all.push_back({Family::kFloat, text, Where::kAnywhere, kNanIsDefined});
  }
  for (const char* text : {
           "<abs|neg><|.ftz>.f32 @f, $f;",
           "copysign.f32 @f, $f, $f;",
           "<rcp|sqrt>.<rn|rz|rm|rp><|.ftz>.f32 @f, $f;",
           "div.<rn|rz|rm|rp><|.ftz>.f32 @f, $f, ?f;",
       }) {
    all.push_back({Family::kFloat, text});
  }
  for (const char* text : {
           "<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 @d, $d, ?d;",
           "fma.<rn|rz|rm|rp>.f64 @d, $d, $d, $d;",
           "mad.<rn|rz|rm|rp>.f64 @d, $d, $d, $d;",
           "<min|max>.f64 @d, $d, $d;",
           "<abs|neg>.f64 @d, $d;",
           "copysign.f64 @d, $d, $d;",
           "<rcp|sqrt>.<rn|rz|rm|rp>.f64 @d, $d;",
           "div.<rn|rz|rm|rp>.f64 @d, $d, $d;",
       }) {
    all.push_back({Family::kDouble, text});
  }
}

void add_half(std::vector<Template>& all) {
  for (const char* text : {
           "<add|sub|mul><|.rn><|.ftz><|.sat>.f16 @a, $a, $a;",
           "<add|sub|mul><|.rn><|.ftz><|.sat>.f16x2 @x, $x, $x;",
           "fma.rn<|.ftz><|.sat|.relu>.f16 @a, $a, $a, $a;",
           "fma.rn<|.ftz><|.sat|.relu>.f16x2 @x, $x, $x, $x;",
           "<min|max><|.ftz><|.NaN>.f16 @a, $a, $a;",
           "<min|max><|.ftz><|.NaN>.f16x2 @x, $x, $x;",
           "<abs|neg><|.ftz>.f16 @a, $a;",
           "<abs|neg><|.ftz>.f16x2 @x, $x;",
           "fma.rn<|.relu>.bf16 @b, $b, $b, $b;",
           "fma.rn<|.relu>.bf16x2 @y, $y, $y, $y;",
           "<min|max><|.NaN>.bf16 @b, $b, $b;",
           "<min|max><|.NaN>.bf16x2 @y, $y, $y;",
           "<abs|neg>.bf16 @b, $b;",
           "<abs|neg>.bf16x2 @y, $y;",
       }) {
    all.push_back({Family::kHalf, text});
  }
  for (const char* text : {"mov.b32 @x, {$a, $a};", "mov.b32 {@a, @a}, $x;",
                           "mov.b32 @y, {$b, $b};", "mov.b32 {@b, @b}, $y;"}) {
    all.push_back({Family::kHalf, text, Where::kAnywhere, kNanIsDefined});
  }
  for (const char* text :
       {"<add|sub|mul>.rn.bf16 @b, $b, $b;", "<add|sub|mul>.rn.bf16x2 @y, $y, $y;"}) {
    all.push_back({Family::kHalf, text, Where::kAnywhere, false, true});
  }
}

void add_convert(std::vector<Template>& all) {
  for (const char* text : {
           "cvt<|.sat>.<u8|s8|u16|s16>.<u32|s32> @r, $r;",
           "cvt<|.sat>.<u8|s8|u16|s16>.<u32|s32> @h, $r;",
           "cvt<|.sat>.u32.s32 @r, $r;",
           "cvt<|.sat>.s32.u32 @r, $r;",
           "cvt.<u32|s32>.<u8|s8|u16|s16> @r, $h;",
           "cvt<|.sat>.<u32|s32>.<u64|s64> @r, $l;",
           "cvt<|.sat>.<u8|s8|u16|s16>.<u64|s64> @h, $l;",
           "cvt<|.sat>.s64.u64 @l, $l;",
           "cvt<|.sat>.u64.s64 @l, $l;",
           "cvt.<u64|s64>.<u32|s32> @l, $r;",
           "cvt.<u64|s64>.<u8|s8|u16|s16> @l, $h;",
           "cvt.<rni|rzi|rmi|rpi><|.ftz>.<u32|s32>.f32 @r, $f;",
           "cvt.<rni|rzi|rmi|rpi><|.ftz>.<u64|s64>.f32 @l, $f;",
           "cvt.<rni|rzi|rmi|rpi><|.ftz>.<u8|s8|u16|s16>.f32 @h, $f;",
           "cvt.<rni|rzi|rmi|rpi>.<u32|s32>.f64 @r, $d;",
           "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f64 @l, $d;",
           "cvt.<rni|rzi|rmi|rpi>.<u8|s8|u16|s16>.f64 @h, $d;",
           "cvt.<rni|rzi|rmi|rpi>.<u32|s32>.f16 @r, $a;",
           "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f16 @l, $a;",
           "cvt.<rni|rzi|rmi|rpi>.<u8|s8|u16|s16>.f16 @h, $a;",
           "cvt.<rn|rz|rm|rp><|.sat>.f32.<u32|s32> @f, $r;",
           "cvt.<rn|rz|rm|rp><|.sat>.f32.<u64|s64> @f, $l;",
           "cvt.<rn|rz|rm|rp>.f32.<u8|s8|u16|s16> @f, $h;",
           "cvt.<rn|rz|rm|rp><|.sat>.f64.<u32|s32> @d, $r;",
           "cvt.<rn|rz|rm|rp>.f64.<u64|s64> @d, $l;",
           "cvt.<rn|rz|rm|rp>.f64.<u8|s8|u16|s16> @d, $h;",
           "cvt.<rn|rz|rm|rp>.f16.<u32|s32> @a, $r;",
           "cvt.<rn|rz|rm|rp>.f16.<u64|s64> @a, $l;",
           "cvt.<rn|rz|rm|rp>.f16.<u8|s8|u16|s16> @a, $h;",
           "cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f32.f64 @f, $d;",
           "cvt<|.ftz><|.sat>.f64.f32 @d, $f;",
           "cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f16.f32 @a, $f;",
           "cvt<|.ftz><|.sat>.f32.f16 @f, $a;",
           "cvt.<rn|rz|rm|rp>.f16.f64 @a, $d;",
           "cvt.f64.f16 @d, $a;",
           "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.f32.f32 @f, $f;",
           "cvt.<rni|rzi|rmi|rpi><|.sat>.f64.f64 @d, $d;",
           "cvt.<rni|rzi|rmi|rpi><|.sat>.f16.f16 @a, $a;",
           "cvt<|.ftz>.sat.f32.f32 @f, $f;",
           "cvt.<rn|rz><|.relu>.bf16.f32 @b, $f;",
           "cvt.f32.bf16 @f, $b;",
           "cvt.<rn|rz><|.relu>.f16x2.f32 @x, $f, $f;",
           "cvt.<rn|rz><|.relu>.bf16x2.f32 @y, $f, $f;",
           "cvt.rn.relu.f16.f32 @a, $f;",
           "cvt.rna.tf32.f32 @r, $f;",
       }) {
    all.push_back({Family::kConvert, text});
  }
  for (const char* text : {"cvt.<rn|rz>.bf16.<u32|s32> @b, $r;", "cvt.rzi.<u32|s32>.bf16 @r, $b;",
                           "cvt.f64.bf16 @d, $b;"}) {
    all.push_back({Family::kConvert, text, Where::kAnywhere, false, true});
  }
  for (const char* text : {
           "mov.b64 {@r, @r}, $l;",
           "mov.b64 @l, {$r, $r};",
           "mov.b64 {@h, @h, @h, @h}, $l;",
           "mov.b64 @l, {$h, $h, $h, $h};",
           "mov.b32 {@h, @h}, $r;",
           "mov.b32 @r, {$h, $h};",
           "mov.b32 @r, $f;",
           "mov.b64 @l, $d;",
           "mov.b16 @h, $a;",
           "mov.b32 @f, $r;",
           "mov.b64 @d, $l;",
           "mov.b16 @a, $h;",
           "mov.u32 @r, <%laneid|%tid.x|%ntid.x|%ctaid.x|%nctaid.x|%lanemask_lt|%lanemask_ge>;",
       }) {
    all.push_back({Family::kBits, text});
  }
}

void add_memory(std::vector<Template>& all) {
  for (const char* text : {
           // The thread's own array in local memory, at an index that only the run knows.
           "and.b32 #r0, $r, 60; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "st.local.b32 [#l0], $r;",
           "and.b32 #r0, $r, 63; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "st.local.b8 [#l0], $r;",
           "and.b32 #r0, $r, 56; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "st.local.b64 [#l0], $l;",
           "and.b32 #r0, $r, 60; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "ld.local.<u32|s32|b32|u16|s16|u8|s8> @r, [#l0];",
           "and.b32 #r0, $r, 56; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "ld.local.<u64|s64|u32|s32|u16|s16|u8|s8> @l, [#l0];",
           "and.b32 #r0, $r, 48; cvt.u64.u32 #l0, #r0; add.u64 #l0, %local_at, #l0; "
           "ld.local.v4.u32 {@r, @r, @r, @r}, [#l0];",
           "and.b32 #r0, $r, 63; cvt.u64.u32 #l0, #r0; add.u64 #l0, %table_at, #l0; "
           "ld.const.<u8|s8> @r, [#l0];",
           "and.b32 #r0, $r, 60; cvt.u64.u32 #l0, #r0; add.u64 #l0, %table_at, #l0; "
           "ld.const.<u32|s16|b32> @r, [#l0];",
           // The thread's own slot of the input.
           "and.b32 #r0, $r, 24; cvt.u64.u32 #l0, #r0; add.u64 #l0, %in, #l0; "
           "ld.global<|.nc>.<u64|s32|u16|s8> @l, [#l0];",
           "ld.global.v2.<u32|b32> {@r, @r}, [%in+<0|8|16>];",
           "ld.global.v2.u64 {@l, @l}, [%in+<0|16>];",
           "ld.global.v4.<u8|s8|u16|s16> {@r, @r, @r, @r}, [%in+<0|8|16>];",
           // Cells of this thread alone, so that the old value is defined.
           "atom.global.<add|min|max|inc|dec>.u32 @r, [%own], $r;",
           "atom.global.<exch|and|or|xor>.b32 @r, [%own], $r;",
           "atom.global.cas.b32 @r, [%own], $r, $r;",
           "atom.global.<min|max>.s32 @r, [%own], $r;",
           "atom.global.<add|min|max>.u64 @l, [%own+8], $l;",
           "atom.global.<exch|and|or|xor>.b64 @l, [%own+8], $l;",
           "atom.global.cas.b64 @l, [%own+8], $l, $l;",
           "st.global.b32 [%own], $r; ld.global.<u32|s16|u8> @r, [%own];",
           "st.volatile.global.b64 [%own+8], $l; ld.volatile.global.<u64|s32|u16> @l, [%own+8];",
       }) {
    all.push_back({Family::kMemory, text});
  }
}

void add_shared(std::vector<Template>& all) {
  // What another thread of the block has stored, between two barriers.
  for (const char* text : {
           "st.shared.b32 [%slot], $r; bar.sync 0; ld.shared.<u32|s16|u8> @r, [#r0]; bar.sync 0;",
           "st.shared.b64 [%slot], $l; bar.sync 0; ld.shared.<u64|s32|u16> @l, [#r0]; bar.sync 0;",
           "st.shared.v4.b32 [%slot], {$r, $r, $r, $r}; bar.sync 0; "
           "ld.shared.v4.u32 {@r, @r, @r, @r}, [#r0]; bar.sync 0;",
           "st.shared.v2.b64 [%slot], {$l, $l}; bar.sync 0; "
           "ld.shared.v2.u32 {@r, @r}, [#r0+8]; bar.sync 0;",
           "st.shared.b16 [%slot+2], $h; bar.sync 0; ld.shared.<u16|s8> @h, [#r0+2]; bar.sync 0;",
       }) {
    const std::string partner =
        "add.u32 #r0, %tid_x, !n; rem.u32 #r0, #r0, %ntid_x; mad.lo.u32 #r0, #r0, 16, %exchange; ";
    all.push_back({Family::kShared, partner + text, Where::kOutside});
  }
  for (const char* text : {
           "bar.red.popc.u32 @r, 0, <|!>$p;",
           "bar.red.<and|or>.pred @p, 0, $p;",
           // Atomics of the whole block on one cell; everybody reads the result.
           "@%first st.shared.b32 [cells], !w; bar.sync 0; red.shared.<add|min|max>.<u32|s32> "
           "[cells], $r; bar.sync 0; ld.shared.b32 @r, [cells]; bar.sync 0;",
           "@%first st.shared.b32 [cells], !w; bar.sync 0; &$p red.shared.<and|or|xor>.b32 "
           "[cells], $r; bar.sync 0; ld.shared.b32 @r, [cells]; bar.sync 0;",
           "@%first st.shared.b64 [cells+8], %in_word; bar.sync 0; red.shared.<add|min|max>.u64 "
           "[cells+8], $l; bar.sync 0; ld.shared.b64 @l, [cells+8]; bar.sync 0;",
       }) {
    all.push_back({Family::kShared, text, Where::kOutside});
  }
}

void add_warp(std::vector<Template>& all) {
  for (const char* text : {
           "shfl.sync.<down|bfly|idx>.b32 @r|@p, $r, !n, <0x1f|0x101f|0x181f|0x1c1f|0x1e1f>, !m;",
           "shfl.sync.up.b32 @r|@p, $r, !n, <0|0x1000|0x1800|0x1c00|0x1e00>, !m;",
           "shfl.sync.idx.b32 @r, $r, $r, 0x1f, !m;",
           "shfl.sync.<down|bfly>.b32 @f, $f, !n, 0x1f, !m;",
       }) {
    all.push_back({Family::kWarp, text, Where::kFullWarp, kNanIsDefined});
  }
  for (const char* text : {
           "vote.sync.<all|any|uni>.pred @p, <|!>$p, !m;",
           "vote.sync.ballot.b32 @r, <|!>$p, !m;",
           "and.b32 #r0, $r, 3; match.any.sync.b32 @r, #r0, !m;",
           "match.any.sync.b64 @r, $l, !m;",
           "and.b32 #r0, $r, 1; match.all.sync.b32 @r|@p, #r0, !m;",
           "match.all.sync.b64 @r|@p, $l, !m;",
           "redux.sync.<add|min|max>.<u32|s32> @r, $r, !m;",
           "redux.sync.<and|or|xor>.b32 @r, $r, !m;",
           "bar.warp.sync !m;",
       }) {
    all.push_back({Family::kWarp, text, Where::kMasked});
  }
}

void add_atomic(std::vector<Template>& all) {
  // Cells of the whole grid: each has one operation, and its final value depends on no order.
  for (const char* text : {
           "red.global.add.<u32|s32> [%cells], $r;",
           "red.global.max.u32 [%cells+8], $r;",
           "red.global.max.s32 [%cells+16], $r;",
           "red.global.min.s32 [%cells+24], $r;",
           "red.global.or.b32 [%cells+32], $r;",
           "red.global.xor.b32 [%cells+40], $r;",
           "red.global.add.u64 [%cells+48], $l;",
           "red.global.max.u64 [%cells+56], $l;",
           "red.global.inc.u32 [%cells+64], 1000;",
           "red.global.xor.b64 [%cells+72], $l;",
           "red.global.min.s64 [%cells+80], $l;",
           "&$p atom.global.add.u32 #r0, [%cells], ?r;",
           // Sums of small integers are exact.
           "and.b32 #r0, $r, 255; cvt.rn.f32.u32 #f0, #r0; red.global.add.f32 [%cells+88], #f0;",
           "and.b32 #r0, $r, 255; cvt.rn.f64.u32 #d0, #r0; red.global.add.f64 [%cells+96], #d0;",
       }) {
    all.push_back({Family::kAtomic, text});
  }
}

// Arguments in [2^-6, 64 + 2^-6), or [-2, 2) for sin and cos: there the ISA states one bound. Both
// machines approximate, each on its side.
void add_approximate(std::vector<Template>& all) {
  const auto add = [&](const std::string& text, double relative, double absolute) {
    all.push_back({Family::kApproximate, text, Where::kAnywhere, kNanIsDefined, false, 2 * relative,
                   2 * absolute});
  };
  const std::string to_argument =
      "and.b32 #r0, $r, 0xffff; cvt.rn.f32.u32 #f0, #r0; "
      "fma.rn.f32 #f0, #f0, 0f3a800000, 0f3c800000; ";
  const std::string to_angle =
      "and.b32 #r0, $r, 0xffff; cvt.rn.f32.u32 #f0, #r0; "
      "fma.rn.f32 #f0, #f0, 0f38800000, 0fc0000000; ";
  add(to_argument + "rcp.approx<|.ftz>.f32 =f, #f0;", std::ldexp(1.0, -23), 0);
  add(to_argument + "sqrt.approx<|.ftz>.f32 =f, #f0;", std::ldexp(1.0, -22), 0);
  add(to_argument + "rsqrt.approx<|.ftz>.f32 =f, #f0;", std::ldexp(1.0, -22), 0);
  add(to_argument + "ex2.approx<|.ftz>.f32 =f, #f0;", std::exp2(-21.9), 0);
  add(to_argument + "lg2.approx<|.ftz>.f32 =f, #f0;", std::exp2(-21.9), std::ldexp(1.0, -22));
  add(to_argument + "tanh.approx.f32 =f, #f0;", std::exp2(-10.9), 0);
  add(to_argument + "div.<approx|full>.f32 =f, 0f40400000, #f0;", std::ldexp(1.0, -22), 0);
  add(to_angle + "<sin|cos>.approx<|.ftz>.f32 =f, #f0;", 0, std::exp2(-20.5));
}

}  // namespace

const std::vector<Template>& templates() {
  static const std::vector<Template>* all = [] {
    auto* list = new std::vector<Template>;
    add_integer(*list);
    add_logic(*list);
    add_compare(*list);
    add_float(*list);
    add_half(*list);
    add_convert(*list);
    add_memory(*list);
    add_shared(*list);
    add_warp(*list);
    add_atomic(*list);
    add_approximate(*list);
    return list;
  }();
  return *all;
}

}  // namespace warplings::sim::random
