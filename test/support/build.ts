/** Builds dist/ before the tests where its sources have changed: commands, workers and daemons are tested as they ship. */
import { execFileSync } from 'node:child_process'

export default function setup(): void {
  execFileSync(process.execPath, ['esbuild.config.mjs', '--if-changed'], { stdio: 'inherit' })
}
