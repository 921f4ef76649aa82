// Pictures of a page that come from a run:
//   <!-- from: view EX PICTURE [TEST [KERNEL]] -->
//   <!-- from: view FILE.cu PICTURE [KERNEL] -->
//
//   ![words](../../assets/figures/.../name.svg)
// The file that the link names is what `./grade view EX --solution --svg PICTURE` draws;
// EX@starter, EX@mutant_2 and EX@variant_NAME run another program of the exercise. FILE.cu is a
// program of the page itself, run as the page runs it: `./grade view --svg PICTURE -- FILE.cu`.
#ifndef WARPLINGS_CLI_GATES_VIEW_PICTURE_H_
#define WARPLINGS_CLI_GATES_VIEW_PICTURE_H_

#include <filesystem>
#include <string>

#include "cli/gates/figures.h"

namespace grade {

bool is_picture(const Mark& mark);
// What a lesson says in `<!-- no picture: REASON -->`, on a line of its own; "" where it does not.
std::string reason_for_no_picture(const std::string& page);
// What the run gives now; `page` holds the mark. Throws course::Error.
std::string picture_of_run(const GateContext& context, const Mark& mark,
                           const std::filesystem::path& page);
// The file that the marked link names, in the folder of the page. Throws course::Error.
std::filesystem::path picture_file(const std::filesystem::path& page, const Mark& mark,
                                   const std::string& link);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_VIEW_PICTURE_H_
