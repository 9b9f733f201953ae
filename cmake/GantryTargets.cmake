# gantry_library(NAME USES other-folders... LINKS third-party...)
#
# One library for one folder of src/. A folder sees only the headers of the folders it names in USES (and, in
# turn, of those they use): each library's include directory holds a single link to its own folder, so that an
# upward include does not build.
add_library(gantry_options INTERFACE)
target_compile_options(gantry_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                                -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 in its own library headers (GCC bugs 105329, 105651, 107852).
  target_compile_options(gantry_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                  -Wno-stringop-overread -Wno-maybe-uninitialized
                                                  -Wno-dangling-pointer)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # clang's -Wconversion includes it, g++'s does not.
  target_compile_options(gantry_options INTERFACE -Wno-sign-conversion)
endif()
if(GANTRY_SANITIZE)
  target_compile_options(gantry_options INTERFACE -fsanitize=${GANTRY_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(gantry_options INTERFACE -fsanitize=${GANTRY_SANITIZE})
endif()
if(GANTRY_FUZZ)
  target_compile_options(gantry_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Clones share the cache wherever they lie.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# Sources are every *.cpp of the folder (and its subfolders); *_test.cpp make the folder's test program, which may
# start TEST_PROGRAMS of ours. With GANTRY_TOGETHER 24 sources (8 of tests) are compiled as one: reading the same headers
# and making the same templates is most of the work, so that it takes less than half of the time. Private names must then
# be unique in their folder (`./dev lint`).
function(gantry_library name)
  cmake_parse_arguments(ARG "" "" "USES;LINKS;TEST_LINKS;TEST_PROGRAMS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(view ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${view}/${name} SYMBOLIC)

  list(TRANSFORM ARG_USES PREPEND gantry_ OUTPUT_VARIABLE uses)
  add_library(gantry_${name} STATIC ${sources})
  target_include_directories(gantry_${name} PUBLIC ${view})
  target_link_libraries(gantry_${name} PUBLIC ${uses} ${ARG_LINKS} PRIVATE gantry_options)
  set_target_properties(gantry_${name} PROPERTIES UNITY_BUILD ${GANTRY_TOGETHER} UNITY_BUILD_BATCH_SIZE 24)

  if(GANTRY_TESTS AND tests)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE gantry_${name} gantry_options ${ARG_TEST_LINKS} GTest::gmock
                                               GTest::gtest_main)
    set_target_properties(test_${name} PROPERTIES UNITY_BUILD ${GANTRY_TOGETHER})
    if(ARG_TEST_PROGRAMS)
      add_dependencies(test_${name} ${ARG_TEST_PROGRAMS})
    endif()
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
  endif()
endfunction()

# gantry_threads_test(ALSO sources... LINKS libraries... PROGRAMS ours...)
#
# test_threads, for the thread sanitizer: every source that starts a thread, or whose header says so, with the test of the
# same name. They are linked with the sources in ALSO rather than with whole folders, which take minutes to compile. Work
# that goes through base/parallel.hpp is left out: its calls share nothing but what they read.
function(gantry_threads_test)
  cmake_parse_arguments(ARG "" "" "ALSO;LINKS;PROGRAMS" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$|_fixture\\.hpp$|/base/[^/]*$")
  foreach(file ${files})
    file(STRINGS ${file} starts_threads REGEX "^#include \"base/background\\.hpp\"|std::(jthread|thread|async)[^:]")
    if(starts_threads)
      string(REGEX REPLACE "\\.[ch]pp$" "" stem ${file})
      list(APPEND sources ${stem}.cpp ${stem}_test.cpp)
    endif()
  endforeach()
  list(TRANSFORM ARG_ALSO PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(APPEND sources ${ARG_ALSO})
  list(REMOVE_DUPLICATES sources)
  add_executable(test_threads ${sources})
  set_target_properties(test_threads PROPERTIES UNITY_BUILD ${GANTRY_TOGETHER} UNITY_BUILD_MODE GROUP)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  foreach(source ${sources}) # together with its folder's, where private names are unique
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    string(REGEX REPLACE "/.*" "" folder ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  file(GLOB views LIST_DIRECTORIES true ${CMAKE_BINARY_DIR}/include/*)
  target_include_directories(test_threads PRIVATE ${views})
  target_link_libraries(test_threads PRIVATE ${ARG_LINKS} gantry_options GTest::gmock GTest::gtest_main)
  add_dependencies(test_threads ${ARG_PROGRAMS})
  gtest_discover_tests(test_threads TEST_PREFIX threads. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()
