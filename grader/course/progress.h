// The learner's progress: ROOT/.progress, plain text, one fact per line.
//   # Warplings progress. Plain text; one fact per line.
//   current 02_vector_add/01_vector_add
//   passed  01_hello_indexing/01_hello_threads  2026-11-21T07:00:00Z
//   hint    02_vector_add/01_vector_add  1  2       TODO 1: two steps were shown
//   predict 03_memory_model/06_transpose_padded  wavefronts  right
//   best    02_vector_add/04_saxpy  0.00101744  NVIDIA H200   seconds of a call, on this card
#ifndef WARPLINGS_COURSE_PROGRESS_H_
#define WARPLINGS_COURSE_PROGRESS_H_

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "course/error.h"

namespace course {

struct Progress {
  std::string current;                               // id, "" before the first exercise
  std::map<std::string, std::string> passed;         // id -> time of the first pass (UTC)
  std::map<std::pair<std::string, int>, int> hints;  // (id, todo) -> steps shown

  // (id, question) -> whether the first prediction was right.
  std::map<std::pair<std::string, std::string>, bool> predictions;

  // (id, card) -> seconds of one call of the speed test. Modelled times are not kept.
  std::map<std::pair<std::string, std::string>, double> best;

  bool is_passed(const std::string& id) const { return passed.count(id) != 0; }
  // Keeps the time of the first pass.
  void mark_passed(const std::string& id);
  // True if this is the first or a shorter time on the card.
  bool note_time(const std::string& id, const std::string& card, double seconds);
};

struct LoadedProgress {
  Progress progress;    // every line that could be read
  std::string warning;  // "" or: what is damaged (file:line), where the damaged file is kept now
};

// A missing file is empty progress. A damaged one is renamed to .progress.damaged-N (N is the first
// free number, so nothing is ever overwritten), its good lines are kept and written back.
// Throws course::Error where the file can be neither read nor set aside.
LoadedProgress load_progress(const std::filesystem::path& root);

// Atomic: written beside, flushed, renamed. Throws course::Error.
void save_progress(const std::filesystem::path& root, const Progress& progress);

}  // namespace course
#endif  // WARPLINGS_COURSE_PROGRESS_H_
