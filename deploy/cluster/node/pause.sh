#!/usr/bin/env bash
# Writes the image that holds the namespaces of a pod, with one program that sleeps, to a file.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

work=$(mktemp -d)
cat >"$work/pause.c" <<'C'
#include <signal.h>
#include <unistd.h>
static void end(int signal) { (void)signal; _exit(0); }
int main(void) { signal(SIGTERM, end); signal(SIGINT, end); for (;;) pause(); }
C
gcc -static -Os -s -o "$work/pause" "$work/pause.c"
printf 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n' >"$work/Dockerfile"
"$here/images.sh" podman build --quiet --tag localhost/pause:1 "$work" >/dev/null
"$here/images.sh" podman save --quiet --output "$1" localhost/pause:1
rm -rf "$work"
