#!/bin/sh
# Runs in its own mount namespace. Starts a daemon whose home is on a small tmpfs, which is then filled up or made
# read-only. Arguments: the command, the fixture, and how: full, read-only, full-at-start or read-only-at-start.
# Prints the output and the exit code of each step.
set -u
bin=$1 fixture=$2 how=$3
disk=$(mktemp -d)
mount -t tmpfs -o size=3m tmpfs "$disk" || exit 99
export HOME="$disk/home" XDG_STATE_HOME="$disk/state" XDG_CONFIG_HOME="$disk/config" TURNBUCKLE_KEYCHAIN=off
mkdir -p "$HOME" "$disk/config/turnbuckle" "$disk/state/turnbuckle"
chmod 700 "$disk/state/turnbuckle"
# A file system cannot be made read-only while a process has a file open for writing, as the log does.
case $how in read-only*) log=false ;; *) log=true ;; esac
cat >"$disk/config/turnbuckle/mcp.json" <<END
{"daemon":{"log":{"enabled":$log}},"servers":{"demo":{"command":"node","args":["$fixture"]}}}
END
cd "$HOME" || exit 99
spoil() {
  case $how in
    full*) cat /dev/zero >"$disk/filler" 2>/dev/null ;;
    # With the source given, mount does not repeat the current options: their uid may be unknown in the namespace.
    *) mount -o remount,ro tmpfs "$disk" || exit 98 ;;
  esac
}
step() {
  name=$1
  shift
  text=$(timeout 60 "$@" 2>&1 </dev/null)
  printf '%s exit %s\n%s\n' "== $name" "$?" "$text"
}
case $how in
  *-at-start)
    spoil
    step start node "$bin" serve --port 0
    exit 0
    ;;
esac
output=$(mktemp)
node "$bin" serve --port 0 >"$output" 2>&1 &
daemon=$!
tries=0
until grep -q 'running at' "$output" || [ $tries -gt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
step before node "$bin" call demo echo text=hi
spoil
url=$(sed -n 's/^Turnbuckle is running at \(http[^ ]*\).*/\1/p' "$output")
step token node "$bin" token create one
step api node -e 'fetch(process.argv[1] + "/api/tokens", { method: "POST",
  headers: { authorization: "Bearer " + process.argv[2], "content-type": "application/json" },
  body: JSON.stringify({ name: "two", can: ["mcp_integration"], access: ["call"] }) })
  .then(async (answer) => console.log(answer.status, await answer.text()))' "$url" "$(cat "$disk/state/turnbuckle/daemon-token")"
step call node "$bin" call demo echo text=hi
kill -TERM $daemon
tries=0
while kill -0 $daemon 2>/dev/null && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL $daemon 2>/dev/null
wait $daemon
ended=$?
printf '== stop exit %s\n' "$ended"
cat "$output"
printf '== left\n'
find "$disk/state" -name '*.tmp' -o -name '*.new'
