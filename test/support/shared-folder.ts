/** Folders that a test file makes while it is loaded: Vitest runs no hook of a file whose tests are all skipped. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHARED_FOLDER } from './leftovers.ts'

/** A folder that goes with the run, whether or not the file removes it sooner. */
export const makeSharedFolder = (prefix: string): string => mkdtempSync(join(tmpdir(), SHARED_FOLDER, prefix))
