/** Builds dist/ before the tests where its sources have changed: commands, workers and daemons are tested as they ship. */
import { execFileSync } from 'node:child_process'

export default function setup(): void {
  // `npm run verify` starts no process of dist/.
  if (process.env.SVC_TEST_DIST === 'as-is') return
  execFileSync(process.execPath, ['tools/build.mjs', '--if-changed'], { stdio: 'inherit' })
}
