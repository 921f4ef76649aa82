// 12/13 Predict: which digit is this picture?
#ifndef CHAPTERS_12_MNIST_CNN_13_PREDICT_H_
#define CHAPTERS_12_MNIST_CNN_13_PREDICT_H_

#include <string>
#include <vector>

// Grey values from 0 to 255, row by row.
struct Picture {
  int rows = 0, cols = 0;
  std::vector<float> pixels;  // rows x cols
};

// Reads one of two kinds of file. Returns "" or what is wrong, naming the file.
//   PGM   "P5" or "P2", width, height and the largest value (1 to 255), separated by white space
//         and comments from # to the end of a line; then one white-space character and a byte per
//         pixel (P5), or the values as numbers (P2). No value is above the largest, in either. What
//         follows the last pixel is not looked at. A largest value below 255 is stretched to it.
//   text  what print_image of 01 writes: lines of two equal characters of " .:-=+*#%@" per pixel.
//         The character at position i stands for the grey value 255 i / 9.
std::string read_picture(const std::string& file, Picture* picture);

struct Prediction {
  int answer = 0;                    // the class of the largest logit, the first of equal ones
  std::vector<float> probabilities;  // of each class
  std::string shown;  // a line per class: number, probability p, a bar of 20 p times #, rounded
};

// The network of a weight file (12/12) is asked for a picture. Returns "" or what is wrong.
std::string predict(const std::string& weights_file, const std::string& picture_file,
                    Prediction* prediction);

#endif  // CHAPTERS_12_MNIST_CNN_13_PREDICT_H_
