/** Writes docs/openapi.json from the schemas; with --check, fails where the file has drifted. */
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/api/openapi.ts'

const FILE = 'docs/openapi.json'
const wanted = `${JSON.stringify(openApiDocument(), null, 2)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, wanted)
} else if (readFileSync(FILE, 'utf8') !== wanted) {
  process.stderr.write(`${FILE} does not match the schemas; run: npm run docs\n`)
  process.exitCode = 1
}
