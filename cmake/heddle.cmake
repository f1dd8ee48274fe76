# Build helpers shared by every folder's CMakeLists.txt.

option(HEDDLE_WERROR "Treat warnings as errors" ON)
set(HEDDLE_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
set(HEDDLE_OUT ${PROJECT_BINARY_DIR}/out CACHE PATH "The complete, relocatable tree that users get")

add_library(heddle_flags INTERFACE)
target_compile_options(heddle_flags INTERFACE -Wall -Wextra $<$<BOOL:${HEDDLE_WERROR}>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wthread-safety>)
# src/ is the one include root inside the project; include/ holds the public CUDA headers.
target_include_directories(heddle_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(heddle_flags INTERFACE HEDDLE_VERSION="${PROJECT_VERSION}")
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_flags INTERFACE -fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(heddle_flags INTERFACE -fsanitize=${HEDDLE_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# heddle_library(NAME [SOURCES ...] [DEPS ...] [TEST_DEPS ...])
# A static library of the current folder. SOURCES defaults to every .cc that is not a test; each
# X_test.cc beside the code becomes part of the ctest executable NAME_test.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;TEST_DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cc)
    list(FILTER ARG_SOURCES EXCLUDE REGEX "_test\\.cc$")
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC heddle_flags ${ARG_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE heddle_flags ${ARG_DEPS})
  endif()
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  if(tests)
    heddle_test(${name}_test SOURCES ${tests} DEPS ${name} ${ARG_TEST_DEPS})
  endif()
endfunction()

# heddle_test(NAME SOURCES ... [DEPS ...]): one GoogleTest executable, registered with ctest as a whole.
function(heddle_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_flags ${ARG_DEPS} GTest::gtest GTest::gtest_main Threads::Threads)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
