#!/bin/bash
# usage: Fuzz/run.sh RUNS [TARGET...]    feeds each target with RUNS inputs; without targets, all of them.
# A finding is written to Fuzz/findings/, and the exit status is not 0. Corpora grow in Fuzz/corpus/ (not committed).
set -euo pipefail
cd "$(dirname "$0")"
runs=${1:?usage: Fuzz/run.sh RUNS [TARGET...]}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(jws jws-payload json receipt receipt-payload receipt-base64 verify-receipt app-version policy)
fi
# Every module is instrumented: what guides libFuzzer is the coverage of the parsers.
build=(swift build -c release -Xswiftc -sanitize=fuzzer --product tenure-fuzz)
if [ -n "${FUZZ_SCRATCH_PATH:-}" ]; then build+=(--scratch-path "$FUZZ_SCRATCH_PATH"); fi
"${build[@]}"
binary=$("${build[@]}" --show-bin-path)/tenure-fuzz
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" findings
    echo "fuzzing $target with $runs inputs"
    if ! "$binary" "$target" "corpus/$target" "-runs=$runs" "-artifact_prefix=findings/$target-" \
        -verbosity=0 ${FUZZ_FLAGS:-} >"findings/$target.log" 2>&1; then
        tail -40 "findings/$target.log"
        echo "fuzzing $target failed; the input is in Fuzz/findings, and \`$binary $target FILE\` repeats it"
        exit 1
    fi
    grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)' "findings/$target.log" || true
done
