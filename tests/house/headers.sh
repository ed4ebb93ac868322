#!/bin/sh
# headers.sh CC: each public header stands on its own, in C17 and, where there is a C++ compiler, in C++.  Prints TAP.
cc=$1
cd "$(dirname -- "$0")/../../include" || exit 1
. ../tests/house/tap.sh

echo "TAP version 13"
empty=$(mktemp)
trap 'rm -f "$empty"' EXIT
for header in sim/*.h; do # included, as users do: what stands in a header need not be used
    case_of "$header stands on its own" $cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only -x c \
        -include "$header" "$empty"
    if command -v c++ > /dev/null; then
        case_of "$header is C++ too" c++ -std=c++17 -Wall -Wextra -Werror -I. -fsyntax-only -x c++ -include "$header" \
            "$empty"
    fi
done
echo "1..$number"
