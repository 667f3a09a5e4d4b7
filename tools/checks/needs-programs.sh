#!/usr/bin/env bash
# Prints the test files of `npm test` that run a program of the cache, themselves or in a support that they import.
set -euo pipefail
cd "$(dirname "$0")/../.."
supports=$(grep -rlE '\b(hasProgram\(|lacksGuards\b)' test/support test/cli --include='*.ts' --exclude='*.test.ts' | xargs -n1 basename | grep -vE '^(programs|local-chain)\.ts$' | tr '\n' '|')
grep -rlE "\bhasProgram\(|\blacksGuards\b|/(${supports%|})'" test --include='*.test.ts' | grep -v '^test/soak/'
