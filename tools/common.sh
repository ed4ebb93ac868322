# What tools/run and tools/check share.  Sourced; `root` is the repository, `self` the command's name.

say() { printf '%s: %s\n' "$self" "$*" >&2; }

die() {
    say "$*"
    exit 3
}

# The packages of the lists named: packages run check
packages() {
    for list; do
        sed -n "s/^$list  *//p" "$root/tools/packages"
    done
}

# Installs what is missing of the lists named; one quick question to dpkg when nothing is.
install_packages() {
    if ! command -v dpkg-query > /dev/null; then
        say "no dpkg here: taking for granted the like of: $(packages "$@" | tr '\n' ' ')"
        return
    fi
    # dpkg-query fails when it has never heard of one of them.
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $(packages "$@") 2> /dev/null || true)"
    missing=
    for package in $(packages "$@"); do
        case $installed in
            *" installed:$package "*) ;;
            *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null || die "missing packages; as root, run: apt-get install$missing"
        as_root=sudo
    fi
    say "installing$missing"
    {
        $as_root apt-get -q update &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $missing
    } >&2 || die "apt-get could not install$missing"
}

# configure DIRECTORY OPTION...: a build directory with these options, made anew when they differ from the last ones.
configure() {
    directory=$1
    shift
    if [ -f "$directory/build.ninja" ] && [ "$(cat "$directory/options" 2> /dev/null)" = "$*" ]; then
        return 0
    fi
    say "configuring ${directory#"$root"/}"
    rm -rf "$directory"
    if setup=$(meson setup "$directory" "$root" "$@" 2>&1); then
        printf '%s\n' "$*" > "$directory/options"
    else
        printf '%s\n' "$setup" >&2
        return 1
    fi
}
