# tools/reference.awk: a public header as its readers mean it, for doxygen (docs/Doxyfile).
# Every line stays on its number.

# Not public, as docs/versioning.md has it: what is below a line "// --- how".
/^\/\/ --- how/ { below_how = 1 }
/^}  \/\/ namespace/ { below_how = 0 }

# Specialisations of templates of std: doxygen cannot place them, and they say no more than that an
# enumeration is one of error codes, or that an address can be formatted.
/^struct std::/ { in_std = 1 }

below_how || in_std {
  print ""
  if (/};$/) in_std = 0
  next
}

# skua::net, not skua::v0::net: the inline namespace carries the ABI, and nobody writes it.
{ sub(/::inline SKUA_ABI/, "") }

# What a comment sets off by an empty line and two more spaces is code or a table; for Markdown that
# is so from four on.
{
  is_set_off = /^ *\/\/\/   +[^ ]/ && (was_empty || was_set_off)
  was_empty = /^ *\/\/\/$/
  if (is_set_off) sub(/\/\/\/   /, "///       ")
  was_set_off = is_set_off || (was_set_off && was_empty)
  print
}
