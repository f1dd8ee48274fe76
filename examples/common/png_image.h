// Reading and writing 8-bit PNG pictures with libpng's simplified interface.
#pragma once

#include <png.h>

#include <cstdio>
#include <vector>

/// Rows from the top, `channels` bytes a pixel: 1 grey, 3 RGB.
struct Picture {
  int width = 0, height = 0, channels = 3;
  std::vector<unsigned char> bytes;
};

inline bool write_png(const char* path, const Picture& picture) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path, 0, picture.bytes.data(), 0, nullptr)) return true;
  std::fprintf(stderr, "can't write %s: %s\n", path, image.message);
  return false;
}

/// Reads any PNG as RGB.
inline bool read_png(const char* path, Picture* picture) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path)) {
    std::fprintf(stderr, "can't read %s: %s\n", path, image.message);
    return false;
  }
  image.format = PNG_FORMAT_RGB;
  picture->width = static_cast<int>(image.width);
  picture->height = static_cast<int>(image.height);
  picture->channels = 3;
  picture->bytes.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture->bytes.data(), 0, nullptr)) return true;
  std::fprintf(stderr, "can't read %s: %s\n", path, image.message);
  return false;
}
