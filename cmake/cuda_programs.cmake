# CUDA programs of the project itself, compiled by the `heddle c++` of the build tree and run on the build tree's driver.
#
# heddle_cuda_program(NAME SOURCE file [FLAGS ...] [ARGS ...] [LABELS ...])
#   build/.../NAME by heddle c++ (static libcudart, as nvcc's default), and a test NAME_heddle that runs it with
#   `heddle run` and wants exit status 0 and a last line that begins with OK.
# heddle_nvcc_program(NAME SOURCE file [FLAGS ...] [ARGS ...])
#   where NVIDIA's nvcc is installed: NAME_nvcc_shared (-cudart shared) and NAME_nvcc_static (the default, with our
#   libcudart_static.a found first) as tests. Elsewhere the tests are there and say that they are skipped.
# Under the sanitizers there are none: programs would need the sanitizer's runtime themselves. What they use of our
# libraries is tested there by tests/api, whose test programs are built with it.
set(HEDDLE_PROGRAM_TEST ${PROJECT_SOURCE_DIR}/tests/programs/run_program.sh)
find_program(HEDDLE_NVIDIA_NVCC NAMES nvcc PATHS /usr/local/cuda/bin NO_DEFAULT_PATH
  DOC "NVIDIA's nvcc, for the tests of programs that it built")

function(heddle_cuda_program name)
  if(HEDDLE_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE" "FLAGS;ARGS;LABELS" ${ARGN})
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/common/*.h ${PROJECT_SOURCE_DIR}/include/*.h
    ${PROJECT_SOURCE_DIR}/include/*/*.h)
  add_custom_command(OUTPUT ${program}
    COMMAND ${HEDDLE_OUT}/bin/heddle c++ -O2 -std=c++17 ${source} -o ${program} ${ARG_FLAGS}
    DEPENDS ${source} ${headers} tree VERBATIM COMMENT "heddle c++ ${name}")
  add_custom_target(${name}_program ALL DEPENDS ${program})
  heddle_program_test(${name}_heddle ${program} "${ARG_ARGS}" "${ARG_LABELS}")
endfunction()

function(heddle_nvcc_program name)
  if(HEDDLE_SANITIZE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE" "FLAGS;ARGS" ${ARGN})
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  foreach(kind IN ITEMS shared static)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${name}_nvcc_${kind})
    if(HEDDLE_NVIDIA_NVCC)
      if(kind STREQUAL shared)
        set(flags -cudart shared)
      else()
        set(flags -L${HEDDLE_OUT}/lib)
      endif()
      add_custom_command(OUTPUT ${program}
        COMMAND ${HEDDLE_NVIDIA_NVCC} -O2 -std=c++17 -arch=compute_90 ${flags} ${source} -o ${program} ${ARG_FLAGS}
        DEPENDS ${source} tree VERBATIM COMMENT "nvcc ${name} (${kind})")
      add_custom_target(program_${name}_nvcc_${kind} ALL DEPENDS ${program})
    endif()
    heddle_program_test(${name}_nvcc_${kind} ${program} "${ARG_ARGS}" "")
  endforeach()
endfunction()

function(heddle_program_test test program args labels)
  if(NOT labels)
    set(labels programs)
  endif()
  add_test(NAME ${test} COMMAND ${HEDDLE_PROGRAM_TEST} ${HEDDLE_OUT} ${program} ${args}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120 LABELS "${labels}")
endfunction()
