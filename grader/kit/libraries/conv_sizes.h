// The sizes of a convolution layer: of stride 1, on images with zeros around them. Letters as in
// cuDNN. Includes nothing, because the shared objects of the libraries use it too.
#ifndef WARPLINGS_KIT_LIBRARIES_CONV_SIZES_H_
#define WARPLINGS_KIT_LIBRARIES_CONV_SIZES_H_

namespace kit {

// x is n images of c channels, h x w each; f is k filters of c channels, r x s each; the result has
// n images of k channels, p x q each. All are stored as they are named, the last index fastest.
struct ConvSizes {
  int n, c, h, w;  // images, channels, rows, columns
  int k, r, s;     // filters, their rows and columns
  int pad;         // rows and columns of zeros on every side
  int p() const { return h + 2 * pad - r + 1; }
  int q() const { return w + 2 * pad - s + 1; }
};

}  // namespace kit

#endif  // WARPLINGS_KIT_LIBRARIES_CONV_SIZES_H_
