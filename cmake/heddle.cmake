# Build helpers shared by every folder's CMakeLists.txt:
#   heddle_library          a folder's static library and its unit tests
#   heddle_test             one GoogleTest executable
#   heddle_shared_library   a library that users load: exports only its API, C++ runtime linked in, lands in HEDDLE_OUT/lib
#   heddle_static_bundle    the same as one static archive whose only global symbols are the API's
#   heddle_program          an executable in HEDDLE_OUT/bin
#   heddle_tree_files       files that are copied into HEDDLE_OUT
#   heddle_add_to_tree      any other target that puts something into HEDDLE_OUT
# Third-party archives: heddle::lz4 and heddle::zstd (static, so that our libraries need nothing but libc).

option(HEDDLE_WERROR "Treat warnings as errors" ON)
set(HEDDLE_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
set(HEDDLE_OUT ${PROJECT_BINARY_DIR}/out CACHE PATH "The complete, relocatable tree that users get")

add_library(heddle_flags INTERFACE)
target_compile_options(heddle_flags INTERFACE -Wall -Wextra $<$<BOOL:${HEDDLE_WERROR}>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wthread-safety>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-thread-safety-precise>
  # libstdc++ 12's stable_sort calls a function that it calls deprecated itself, and clang says so.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-deprecated-declarations>)
# src/ is the one include root inside the project; include/ holds the public CUDA headers.
target_include_directories(heddle_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(heddle_flags INTERFACE HEDDLE_VERSION="${PROJECT_VERSION}")
if(HEDDLE_SANITIZE)
  # A finding ends the test. `vptr` and `function` need type information that LLVM is built without; `enum` objects to
  # what the C API must take: a caller may pass any int where an enumeration is declared, and gets an error for it.
  set(sanitize -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all)
  if(HEDDLE_SANITIZE MATCHES undefined)
    list(APPEND sanitize -fno-sanitize=vptr,enum$<$<CXX_COMPILER_ID:Clang>:,function>)
  endif()
  target_compile_options(heddle_flags INTERFACE ${sanitize} -fno-omit-frame-pointer)
  target_link_options(heddle_flags INTERFACE ${sanitize})
endif()

# What the `tree` target builds: all that lies in HEDDLE_OUT. `make` and `make demo` build it without the tests.
function(heddle_add_to_tree)
  set_property(GLOBAL APPEND PROPERTY HEDDLE_TREE ${ARGN})
endfunction()

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

# The static archives are named by path: a plain -lzstd would take the shared library.
foreach(codec IN ITEMS lz4 zstd)
  find_library(HEDDLE_${codec}_ARCHIVE lib${codec}.a REQUIRED)
  add_library(heddle::${codec} STATIC IMPORTED GLOBAL)
  set_target_properties(heddle::${codec} PROPERTIES IMPORTED_LOCATION ${HEDDLE_${codec}_ARCHIVE})
endforeach()

# heddle_library(NAME [SOURCES ...] [DEPS ...] [TEST_DEPS ...] [TEST_LABELS ...])
# A static library of the current folder. SOURCES defaults to every .cc that is not a test; each
# X_test.cc beside the code becomes part of the ctest executable NAME_test.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;TEST_DEPS;TEST_LABELS" ${ARGN})
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
    heddle_test(${name}_test SOURCES ${tests} DEPS ${name} ${ARG_TEST_DEPS} LABELS ${ARG_TEST_LABELS})
  endif()
endfunction()

# heddle_test(NAME SOURCES ... [DEPS ...] [LABELS ...]): one GoogleTest executable, registered with ctest as a whole.
# Labels choose what runs under the sanitizers (see the Makefile): `unit` is the default; `slow` runs in the release
# build alone; `notsan` and `noasan` leave a test out of one of them, with the reason beside the label.
function(heddle_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_flags ${ARG_DEPS} GTest::gtest GTest::gtest_main Threads::Threads)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

# heddle_shared_library(NAME OUTPUT libcuda.so.1 VERSION_SCRIPT exports.map [LINK libcuda.so]
#                       [WHOLE static libraries of ours that define the exported functions] [SOURCES ...] [DEPS ...])
# OUTPUT is both the file's name and its soname; LINK a symbolic link beside it. Everything that the version script
# does not name stays local, the archives' and the C++ runtime's symbols too, so two libraries with different copies of
# the same code (LLVM, libstdc++, zstd) live in one process. Sanitizer builds keep the shared C++ runtime, because the
# sanitizers' own libraries use it.
function(heddle_shared_library name)
  cmake_parse_arguments(ARG "" "OUTPUT;LINK;VERSION_SCRIPT" "WHOLE;SOURCES;DEPS" ${ARGN})
  if(NOT ARG_OUTPUT OR NOT ARG_VERSION_SCRIPT)
    message(FATAL_ERROR "heddle_shared_library(${name}): OUTPUT and VERSION_SCRIPT are required")
  endif()
  get_filename_component(script ${ARG_VERSION_SCRIPT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(objects ${ARG_SOURCES})
  foreach(library IN LISTS ARG_WHOLE)
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  add_library(${name} SHARED ${objects})
  # CMake has no name for "libcuda.so.1": prefix, version and suffix are given as one file name.
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${ARG_OUTPUT} NO_SONAME ON
    LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${HEDDLE_OUT}/lib SKIP_BUILD_RPATH ON LINK_DEPENDS ${script})
  target_link_libraries(${name} PRIVATE heddle_flags ${ARG_WHOLE} ${ARG_DEPS} Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -Wl,-soname,${ARG_OUTPUT} -Wl,--version-script=${script} -Wl,-Bsymbolic
    -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro)
  if(NOT HEDDLE_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,defs)
  endif()
  heddle_add_to_tree(${name})
  if(ARG_LINK)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${ARG_OUTPUT} ${HEDDLE_OUT}/lib/${ARG_LINK} VERBATIM)
  endif()
endfunction()

# heddle_static_bundle(NAME OUTPUT libcudart_static.a KEEP symbols.txt LIBRARIES static libraries of ours ...
#                      [ARCHIVES files of third-party archives])
# One relocatable object of the libraries and the part of the C++ runtime that they use, in which only the symbols
# listed in KEEP (one pattern a line) stay global: a C program links it with nothing but -lpthread -ldl -lrt -lgcc_s, and it can't clash
# with another libstdc++ or another copy of our code.
function(heddle_static_bundle name)
  cmake_parse_arguments(ARG "" "OUTPUT;KEEP" "LIBRARIES;ARCHIVES" ${ARGN})
  get_filename_component(keep ${ARG_KEEP} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(archives)
  foreach(library IN LISTS ARG_LIBRARIES)
    list(APPEND archives $<TARGET_FILE:${library}>)
  endforeach()
  set(runtime)
  if(NOT HEDDLE_SANITIZE)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
      OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  # LLVM's objcopy: GNU's leaves the "unique" symbols of libstdc++ global.
  find_program(HEDDLE_OBJCOPY NAMES llvm-objcopy-19 PATHS /usr/lib/llvm-19/bin REQUIRED)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(archive ${HEDDLE_OUT}/lib/${ARG_OUTPUT})
  # --force-group-allocation: a COMDAT group with localized symbols could be dropped in favour of the program's copy.
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${HEDDLE_OUT}/lib
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} --whole-archive ${archives} --no-whole-archive
            --start-group ${ARG_ARCHIVES} ${runtime} --end-group
    COMMAND ${HEDDLE_OBJCOPY} --wildcard --keep-global-symbols=${keep} --strip-debug ${object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} rcs ${archive} ${object}
    DEPENDS ${ARG_LIBRARIES} ${keep} VERBATIM
    COMMENT "Bundling ${ARG_OUTPUT}")
  add_custom_target(${name} ALL DEPENDS ${archive})
  heddle_add_to_tree(${name})
endfunction()

# heddle_program(NAME OUTPUT heddle SOURCES ... [DEPS ...] [LINKS other names of the same file]): HEDDLE_OUT/bin/OUTPUT.
function(heddle_program name)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES;DEPS;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_flags ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT} RUNTIME_OUTPUT_DIRECTORY ${HEDDLE_OUT}/bin
    SKIP_BUILD_RPATH ON)
  heddle_add_to_tree(${name})
  if(NOT HEDDLE_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  foreach(link IN LISTS ARG_LINKS)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${ARG_OUTPUT} ${HEDDLE_OUT}/bin/${link} VERBATIM)
  endforeach()
endfunction()

# heddle_tree_files(DESTINATION include [BASE folder] FILES ...): copies files into HEDDLE_OUT/DESTINATION, keeping
# their paths below BASE (the current source folder by default), whenever they change.
function(heddle_tree_files)
  cmake_parse_arguments(ARG "" "DESTINATION;BASE" "FILES" ${ARGN})
  if(NOT ARG_BASE)
    set(ARG_BASE ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(copies)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(source ${file} ABSOLUTE BASE_DIR ${ARG_BASE})
    file(RELATIVE_PATH path ${ARG_BASE} ${source})
    set(copy ${HEDDLE_OUT}/${ARG_DESTINATION}/${path})
    add_custom_command(OUTPUT ${copy} COMMAND ${CMAKE_COMMAND} -E copy ${source} ${copy} DEPENDS ${source} VERBATIM
      COMMENT "Copying ${ARG_DESTINATION}/${path}")
    list(APPEND copies ${copy})
  endforeach()
  string(MAKE_C_IDENTIFIER "tree_${ARG_DESTINATION}_${CMAKE_CURRENT_SOURCE_DIR}" target)
  string(SHA1 hash "${target};${copies}")
  string(SUBSTRING ${hash} 0 8 hash)
  add_custom_target(tree_files_${hash} ALL DEPENDS ${copies})
  heddle_add_to_tree(tree_files_${hash})
endfunction()
