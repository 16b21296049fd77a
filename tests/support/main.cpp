// tests/support/main.cpp: main() of the test programs; GoogleTest's, plus --minutes N.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--minutes") == 0) setenv("SKUA_TEST_MINUTES", argv[i + 1], 1);
  }
  return RUN_ALL_TESTS();
}
