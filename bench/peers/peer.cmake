# bench/peers/peer.cmake: a contestant: the files of its directory, and those that all share.
#   peer_program(skua 0.1.0 23)
set(peers_directory ${CMAKE_CURRENT_LIST_DIR})

function(peer_program name version standard)
  string(TOLOWER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" compiler)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(REGEX REPLACE " +" " " flags "${compiler} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  file(GLOB sources CONFIGURE_DEPENDS
    ${peers_directory}/common/*.cpp ${peers_directory}/${name}/*.cpp)
  add_executable(peer_${name} ${sources})
  target_compile_features(peer_${name} PRIVATE cxx_std_${standard})
  target_compile_definitions(peer_${name} PRIVATE
    "PEER_NAME=\"${name}\"" "PEER_VERSION=\"${version}\"" "PEER_FLAGS=\"${flags}\"")
  target_include_directories(peer_${name} PRIVATE ${peers_directory})
  target_link_libraries(peer_${name} PRIVATE Threads::Threads)
endfunction()
