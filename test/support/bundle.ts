/** Bundles a TypeScript file with what it imports into one JavaScript file, for tests that run it as a process. */
import { build } from 'rolldown'

export async function bundle(input: string, file: string, format: 'esm' | 'cjs' = 'esm'): Promise<void> {
  await build({ input, platform: 'node', logLevel: 'warn', output: { file, format, codeSplitting: false } })
}
