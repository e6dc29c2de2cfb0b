#!/usr/bin/env bash
# Builds the images of the services, and of the engines for a test cluster, where no container registry is in reach: the
# base image that deploy/image/Dockerfile names is made from Debian's packages and npm's packages of Node and npm.
#
#   images.sh services [SERVICE...]   localhost/restante/SERVICE:test from the unmodified Dockerfile; default: all
#   images.sh engines                 localhost/restante/engines:test: PostgreSQL, Redis, Kafka and S3, for engines.yaml
#   images.sh podman ARGUMENT...      podman with this store
#   images.sh clean                   deletes the store
#
# SOURCE is the repository whose services are built (default: this one) and TAG their tag (default: test). With REVISION,
# the commit of SOURCE, images are built once. They are kept in $RESTANTE_TOOLS/containers: neither Docker nor another
# user of podman sees them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

source_root=${SOURCE:-$root}
tag=${TAG:-test}
revision=${REVISION:-}
store=$tools/containers

engine() {
  mkdir -p "$store"
  if [ ! -e "$store/containers.conf" ]; then
    # runc, because crun refuses a machine with cgroups v1. Limits, because podman's own are higher than a process
    # without CAP_SYS_RESOURCE may set.
    local files
    files=$(ulimit -Hn)
    [ "$files" != unlimited ] || files=1048576
    cat >"$store/containers.conf" <<TOML
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=4096:4096"]
[engine]
runtime = "$(PATH=$PATH:/usr/sbin command -v runc)"
cgroup_manager = "cgroupfs"
TOML
  fi
  CONTAINERS_CONF=$store/containers.conf podman --root "$store/store" --runroot "$store/run" "$@"
}

# A root file system of Debian 12 with some packages, as a tar file.
debian() { # packages, file
  mmdebstrap --quiet --variant=minbase --include="$1" --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --essential-hook='mkdir -p "$1/usr/share/man/man1"' bookworm "$2"
}

base() {
  local name version context started=$SECONDS
  name=$(sed -n 's/^ARG NODE_IMAGE=//p' "$source_root/deploy/image/Dockerfile")
  # Releases from before 0.2.0 name only the version.
  [ -n "$name" ] || name=node:$(sed -n 's/^ARG NODE_VERSION=//p' "$source_root/deploy/image/Dockerfile")-slim
  version=${name#node:}
  version=${version%-slim}
  ! engine image exists "docker.io/library/$name" || return 0
  say "Making a stand-in for $name ..."
  context=$scratch/base
  mkdir "$context"
  debian ca-certificates "$context/debian.tar"
  mkdir "$context/packages"
  (cd "$context/packages" && npm pack --silent "node-linux-$(node -p process.arch)@$version" npm@11 >/dev/null)
  mv "$context"/packages/node-*.tgz "$context/node.tgz"
  mv "$context"/packages/npm-*.tgz "$context/npm.tgz"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM scratch AS debian
ADD debian.tar /

FROM debian AS unpack
COPY node.tgz npm.tgz /tmp/
RUN mkdir -p /out/bin /out/etc /out/lib/node_modules/npm \\
 && tar xzf /tmp/node.tgz -C /out --strip-components=1 package/bin package/include \\
 && tar xzf /tmp/npm.tgz -C /out/lib/node_modules/npm --strip-components=1 \\
 && ln -s ../lib/node_modules/npm/bin/npm-cli.js /out/bin/npm \\
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /out/bin/npx \\
 && ln -s node /out/bin/nodejs && touch /out/etc/npmrc && chown -R root:root /out

FROM debian
COPY --from=unpack /out /usr/local
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
ENV NODE_VERSION=$version
CMD ["node"]
DOCKERFILE
  engine build --quiet --network=none --tag "docker.io/library/$name" "$context" >/dev/null
  rm -rf "$context"
  say "Stand-in for $name: $((SECONDS - started)) s"
}

# What steps of a build use of this machine to reach the npm registry: the certificates it trusts, and the registry's
# address. Neither stays in an image.
registry_options() { # folder
  printf 'cafile=/etc/ssl/certs/ca-certificates.crt\nregistry=%s\n' "$(npm config get registry)" >"$1/npmrc"
  printf -- '--volume=%s:/etc/ssl/certs/ca-certificates.crt:ro\n' "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}"
  printf -- '--volume=%s:/usr/local/etc/npmrc:ro\n' "$1/npmrc"
}

revision_label=org.opencontainers.image.revision

# Whether there is an image of this revision already.
is_built() { # image
  [ -n "$revision" ] && [ "$(engine image inspect --format "{{index .Labels \"$revision_label\"}}" "$1" 2>/dev/null)" = "$revision" ]
}

services() {
  local names=("$@") service image started options
  [ ${#names[@]} -gt 0 ] || mapfile -t names < <(ls "$source_root/services")
  make_scratch
  base
  mapfile -t options < <(registry_options "$scratch")
  for service in "${names[@]}"; do
    image=localhost/restante/$service:$tag
    ! is_built "$image" || continue
    started=$SECONDS
    nice "${BASH_SOURCE[0]}" podman build --network=host "${options[@]}" --file "$source_root/deploy/image/Dockerfile" \
      --build-arg "SERVICE=$service" --label "$revision_label=$revision" --tag "$image" "$source_root" \
      >"$scratch/build.log" 2>&1 ||
      { tail -n 40 "$scratch/build.log" >&2; fail "the image of $service does not build"; }
    say "Image $image: $((SECONDS - started)) s, $(engine image inspect --format '{{.Size}}' "$image" | numfmt --to=iec)"
  done
}

engines() {
  local context stamp jars=$root/deploy/local/kafka started=$SECONDS
  "$here/programs.sh" versitygw
  stamp=$({ declare -f debian engines; cat "$jars/pom.xml" "$jars/log4j2.yaml" "$bin/versitygw"; } | sha256sum | cut -c1-12)
  if ! engine image exists "localhost/restante/engines:$stamp"; then
    say 'Making the image of the engines ...'
    context=$(mktemp -d)
    debian postgresql-15,redis-server,openjdk-17-jre-headless "$context/debian.tar"
    mvn -q -B -f "$jars/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$context/jars"
    cp "$jars/log4j2.yaml" "$bin/versitygw" "$context/"
    # Maven keeps the permissions of its repository, which may be its owner's alone.
    chmod -R a+rX "$context"
    cat >"$context/Dockerfile" <<'DOCKERFILE'
FROM scratch
ADD debian.tar /
COPY jars /opt/kafka/libs
COPY log4j2.yaml /opt/kafka/
COPY versitygw /usr/local/bin/
RUN useradd --uid 1000 --user-group engine
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
DOCKERFILE
    engine build --quiet --network=none --tag "localhost/restante/engines:$stamp" "$context" >/dev/null
    rm -rf "$context"
    say "Image of the engines: $((SECONDS - started)) s"
  fi
  engine tag "localhost/restante/engines:$stamp" localhost/restante/engines:test
}

clean() {
  [ ! -d "$store" ] || engine rm --all --force >/dev/null 2>&1 || true
  ! mountpoint -q "$store/store/overlay" || umount "$store/store/overlay"
  rm -rf "$store"
}

require podman=podman runc=runc mmdebstrap=mmdebstrap npm=npm mvn=maven java=openjdk-17-jre-headless
case ${1:-} in
  services | engines | clean) "$@" ;;
  podman) shift; engine "$@" ;;
  *) usage ;;
esac
