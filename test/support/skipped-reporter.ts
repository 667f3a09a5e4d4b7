/** Lists what a run has skipped, with the reason where the title gives it: the default reporter only counts. */
import type { Reporter, TestCase, TestModule } from 'vitest/node'

export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    if (skipped.length === 0) return
    const lines = [`${skipped.length} skipped:`, ...skipped.map((test) => `  ${nameOf(test)}`)]
    process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}

function nameOf(test: TestCase): string {
  const result = test.result()
  const note = result.state === 'skipped' && result.note !== undefined ? ` (${result.note})` : ''
  return `${test.module.relativeModuleId} > ${test.fullName}${note}`
}
