# Sourced by tests that print TAP: case_of SENTENCE COMMAND...
number=0

case_of() {
    sentence=$1
    shift
    number=$((number + 1))
    if said=$("$@" 2>&1); then
        echo "ok $number - $sentence"
    else
        echo "not ok $number - $sentence"
        echo "$said" | sed 's/^/# /'
    fi
}
