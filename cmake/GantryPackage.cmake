# What `cmake --install` and the .deb put where. The agent is not for people to run, so it lives in libexec; gantry
# looks for it beside itself (build tree) and in ../libexec/gantry.
include(GNUInstallDirs)

if(TARGET gantry)
  install(TARGETS gantry RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET gantry-agent)
  install(TARGETS gantry-agent RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/gantry)
endif()

# install_as(FILE FOLDER NAME): parts that a packager's tree may lack are left out.
function(install_as file folder name)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${file})
    install(FILES ${CMAKE_SOURCE_DIR}/${file} DESTINATION ${folder} RENAME ${name})
  endif()
endfunction()
install_as(completions/gantry.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions gantry)
install_as(completions/_gantry ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions _gantry)
install_as(packaging/copyright ${CMAKE_INSTALL_DOCDIR} copyright)
install_as(CHANGELOG.md ${CMAKE_INSTALL_DOCDIR} CHANGELOG.md)
install_as(README.md ${CMAKE_INSTALL_DOCDIR} README.md)
install_as(CONTRIBUTING.md ${CMAKE_INSTALL_DOCDIR} CONTRIBUTING.md)  # which the README names, as it does the next
install_as(LICENSE ${CMAKE_INSTALL_DOCDIR} LICENSE)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "man" EXCLUDE)
install(DIRECTORY examples/quickstart examples/testbed DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples USE_SOURCE_PERMISSIONS
        PATTERN ".gantry" EXCLUDE PATTERN "__pycache__" EXCLUDE)

# Debian wants manual pages compressed, without the time in the header so that builds repeat.
find_program(GZIP gzip)
if(GZIP AND EXISTS ${CMAKE_SOURCE_DIR}/docs/man/gantry.1)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/gantry.1.gz
                     COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/docs/man/gantry.1 > ${CMAKE_BINARY_DIR}/gantry.1.gz
                     DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/gantry.1 VERBATIM)
  add_custom_target(man ALL DEPENDS ${CMAKE_BINARY_DIR}/gantry.1.gz)
  install(FILES ${CMAKE_BINARY_DIR}/gantry.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gantry)
set(CPACK_PACKAGE_CONTACT "Gantry maintainers <maintainers@gantry.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "parameter sweeps that survive anything, on every core you have")
set(CPACK_PACKAGE_DESCRIPTION "Gantry runs a program once for every combination of its parameters, packs the runs
onto the machine's cores and memory, records every result in a database and goes
on where it stopped after a crash, a kill or a power cut.")
set(CPACK_PACKAGE_FILE_NAME gantry_${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, iproute2, openssh-server")
include(CPack)
