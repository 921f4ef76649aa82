// Given code of chapter 03: measuring rates and drawing them. Host code.
#ifndef CHAPTERS_03_MEMORY_MODEL_SUPPORT_H_
#define CHAPTERS_03_MEMORY_MODEL_SUPPORT_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>

// Seconds of the fastest of `repeats` calls.
template <class Work>
double seconds_of(int repeats, const Work& work) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float best = 1e9f;  // milliseconds
  for (int i = 0; i < repeats; ++i) {
    float ms = 0.0f;
    cudaEventRecord(start);
    work();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    best = std::min(best, ms);
  }
  cudaEventDestroy(stop);
  cudaEventDestroy(start);
  return best * 1e-3;
}

// work(k) moves k times `bytes`. The difference of two runs is free of what both pay once: the
// launch, and the first pass, which fills the caches.
template <class Work>
double gb_per_second(double bytes, int repeats, const Work& work) {
  work(1);                  // warm-up: the first launch of a kernel also loads its code
  cudaDeviceSynchronize();  // both runs begin on an idle device, or the launch would not cancel out
  const double once = seconds_of(repeats, [&] { work(1); });
  const double twice = seconds_of(repeats, [&] { work(2); });
  return bytes / (twice - once) * 1e-9;
}

// Writes an SVG picture, a bar per value on a logarithmic scale that begins at 1 GB/s. False if the
// file cannot be written.
inline bool draw_bars(const char* title, std::initializer_list<const char*> names,
                      const double* gb_per_second, const char* path) {
  constexpr double kDecade = 70.0;  // width of a factor of ten
  const int height = 50 + 34 * static_cast<int>(names.size());
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fprintf(file,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 %d\" "
               "font-family=\"sans-serif\" font-size=\"14\">\n"
               "<rect width=\"640\" height=\"%d\" fill=\"white\"/>\n"
               "<text x=\"16\" y=\"26\">%s: GB/s, logarithmic</text>\n",
               height, height, title);
  int y = 44;  // of the bar
  for (const char* name : names) {
    const double rate = *gb_per_second++;
    const double width = kDecade * std::log10(std::max(rate, 1.0));
    std::fprintf(file,
                 "<text x=\"16\" y=\"%d\">%s</text><rect x=\"100\" y=\"%d\" width=\"%.1f\" "
                 "height=\"22\" fill=\"#4a90d9\"/><text x=\"%.1f\" y=\"%d\">%.0f</text>\n",
                 y + 16, name, y, width, 108 + width, y + 16, rate);
    y += 34;
  }
  std::fprintf(file, "</svg>\n");
  return std::fclose(file) == 0;
}

#endif  // CHAPTERS_03_MEMORY_MODEL_SUPPORT_H_
