# Last step of the device math library: simplifies the linked bitcode with passes that leave nvvm-reflect alone, and
# takes off what ties functions to one target CPU, and keeps selects from becoming branches. Called by ../CMakeLists.txt.
execute_process(COMMAND ${OPT} -S -passes=${PASSES}
  -two-entry-phi-node-folding-threshold=24 -phi-node-folding-threshold=24 ${IN} -o ${IN}.ll COMMAND_ERROR_IS_FATAL ANY)
file(READ ${IN}.ll text)
string(REGEX REPLACE " \"target-(cpu|features)\"=\"[^\"]*\"" "" text "${text}")
# The code generator would turn a select of two computed values into a branch: bad for threads that run in lock step.
string(REGEX REPLACE "( = select [^\n]*[^\n!])\n" "\\1, !unpredictable !99999\n" text "${text}")
string(APPEND text "\n!99999 = !{}\n")
file(WRITE ${IN}.ll "${text}")
execute_process(COMMAND ${OPT} -passes=verify ${IN}.ll -o ${OUT} COMMAND_ERROR_IS_FATAL ANY)
