// Gives each file to the fuzzer's target once, for compilers without libFuzzer and for sanitizers that disturb it.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int, char** arguments) {
  int count = 0;
  for (char** path = arguments + 1; *path; path++, count++) {
    std::ifstream file(*path, std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::fprintf(stderr, "%s\n", *path);  // the last one is the one that failed
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
  std::printf("%d inputs\n", count);
}
