/** One test that starts a process and makes a folder below the temporary folder of its run, and takes neither away. */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'vitest'

it('leaves a process and a folder behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forgotten-'))
  const script = 'setInterval(() => undefined, 1000)'
  spawn(process.execPath, ['-e', script, folder], { detached: true, stdio: 'ignore', env: {} }).unref()
  writeFileSync(process.env.RUN_FOLDER_FILE ?? '', tmpdir())
  if (process.env.WAITS === '1') await new Promise(() => undefined)
})
