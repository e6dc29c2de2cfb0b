#!/usr/bin/env bash
# Writes the image that holds the namespaces of a pod, with one program that sleeps, to a file.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

make_scratch
cat >"$scratch/pause.c" <<'C'
#include <signal.h>
#include <unistd.h>
static void end(int signal) { (void)signal; _exit(0); }
int main(void) { signal(SIGTERM, end); signal(SIGINT, end); for (;;) pause(); }
C
gcc -static -Os -s -o "$scratch/pause" "$scratch/pause.c"
printf 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n' >"$scratch/Dockerfile"
"$here/images.sh" podman build --quiet --tag localhost/pause:1 "$scratch" >/dev/null
"$here/images.sh" podman save --quiet --output "$1" localhost/pause:1
