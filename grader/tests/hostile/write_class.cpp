// hostile.class FOLDER ROOT: writes every hostile submission as a student's,
// FOLDER/NAME/01_vector_add.cu.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "hostile.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "hostile.class FOLDER ROOT\n";
    return 2;
  }
  namespace fs = std::filesystem;
  for (const auto& list :
       {grade::test::forgeries(), grade::test::trespasses(), grade::test::strangers()}) {
    for (const grade::test::Submission& one : list) {
      const fs::path folder = fs::path(arguments[1]) / one.name;
      fs::create_directories(folder);
      std::ofstream(folder / "01_vector_add.cu") << grade::test::whole_file(one, arguments[2]);
    }
  }
  return 0;
}
