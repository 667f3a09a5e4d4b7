/** Builds dist/ once before the tests: commands, workers and daemons are tested as they ship. */
import { execFileSync } from 'node:child_process'

export default function setup(): void {
  execFileSync(process.execPath, ['esbuild.config.mjs', '--external'], { stdio: 'inherit' })
}
