/** Builds dist/ again where a test before has packed it: every file of the soak measures the same build. */
import { readFileSync } from 'node:fs'
import build from './build.ts'

/** Stands in the files of a packed build alone. */
const PACKED = 'createRequireOfChunk'

if (readFileSync('dist/svc.js', 'utf8').includes(PACKED)) build()
