// A sheet to draw on: SVG in the course's colours, on a light ground of its own, so that a picture
// reads the same on light and dark pages.
#ifndef WARPLINGS_CLI_VIEW_SVG_H_
#define WARPLINGS_CLI_VIEW_SVG_H_

#include <cstdio>
#include <map>
#include <string>

#include "course/text.h"

namespace grade::view {

inline constexpr const char* kInk = "#1f2933";
inline constexpr const char* kDim = "#4a5560";
inline constexpr const char* kRule = "#c3cbd4";
inline constexpr const char* kWanted = "#1f5f99";
inline constexpr const char* kUnused = "#d9dee4";
inline constexpr const char* kWrong = "#a5281b";
// Apart for everybody, whatever colours they see; white is legible on each.
inline constexpr const char* kHues[] = {"#1f5f99", "#b84f00", "#1b7f5c", "#a0527e",
                                        "#5f6368", "#6a6b12", "#7a3b2e", "#3b3b8f"};
inline constexpr int kCell = 20, kLeft = 84, kSheet = 740;

inline std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string out = text;
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

class Svg {
 public:
  // `words` say the same to those who do not see it.
  Svg(std::string title, std::string words) : title_(std::move(title)), words_(std::move(words)) {}

  void heading(const std::string& first, const std::string& second) {
    text(16, 26, first, "start", kInk, 14, true);
    text(16, 46, second, "start", kDim, 12);
  }
  void rect(double x, double y, double w, double h, const std::string& fill,
            const std::string& more = "") {
    body_ += "  <rect x=\"" + digits(x) + "\" y=\"" + digits(y) + "\" width=\"" + digits(w) +
             "\" height=\"" + digits(h) + "\" fill=\"" + fill + "\"" + more + "/>\n";
  }
  // Many of one colour are one element.
  void tile(double x, double y, double w, double h, const std::string& fill) {
    tiles_[fill] += "M" + digits(x) + " " + digits(y) + "h" + digits(w) + "v" + digits(h) + "h-" +
                    digits(w) + "z";
  }
  void flush_tiles() {
    for (const auto& [fill, way] : tiles_) {
      body_ += "  <path d=\"" + way + "\" fill=\"" + fill + "\"/>\n";
    }
    tiles_.clear();
  }
  void path(const std::string& way, const std::string& colour, const std::string& more = "") {
    body_ += "  <path d=\"" + way + "\" stroke=\"" + colour + "\" fill=\"none\"" + more + "/>\n";
  }
  void text(double x, double y, const std::string& words, const char* anchor = "start",
            const std::string& fill = kInk, int size = 12, bool bold = false) {
    body_ += "  <text x=\"" + digits(x) + "\" y=\"" + digits(y) + "\" font-size=\"" +
             std::to_string(size) + "\" fill=\"" + fill + "\" text-anchor=\"" + anchor + "\"" +
             (bold ? " font-weight=\"bold\"" : "") + ">" + escaped(words) + "</text>\n";
  }
  void code(double x, double y, const std::string& words) {
    body_ += "  <text x=\"" + digits(x) + "\" y=\"" + digits(y) + "\" font-size=\"11\" fill=\"" +
             kInk + "\" font-family=\"monospace\">" + escaped(words) + "</text>\n";
  }
  // A colour and what it stands for.
  void key(double x, double y, const std::string& fill, const std::string& words) {
    rect(x, y - 10, 12, 12, fill, " rx=\"2\"");
    text(x + 18, y, words, "start", kDim, 11);
  }
  std::string str(double width, double height) {
    flush_tiles();
    const std::string w = digits(width), h = digits(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
           "\" width=\"" + w + "\" height=\"" + h +
           "\" role=\"img\" aria-labelledby=\"title desc\" "
           "font-family=\"Helvetica, Arial, sans-serif\">\n  <title id=\"title\">" +
           escaped(title_) + "</title>\n  <desc id=\"desc\">" + escaped(words_) +
           "</desc>\n  <!-- Drawn by grade view from a run. -->\n"
           "  <rect width=\"" +
           w + "\" height=\"" + h + "\" rx=\"10\" fill=\"#f7f8fa\"/>\n" + body_ + "</svg>\n";
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string out = course::replace_all(text, "&", "&amp;");
    return course::replace_all(course::replace_all(out, "<", "&lt;"), ">", "&gt;");
  }

  std::string title_, words_, body_;
  std::map<std::string, std::string> tiles_;
};

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_SVG_H_
