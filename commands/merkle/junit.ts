/** Writes what a check of recipient lists found as a JUnit report, which the pages of CI systems show beside a change. */
import type { MerkleIssue } from '../../src/merkle/errors.ts'
import { writeAtomically } from '../../src/platform/files.ts'
import { type CommandOutcome, text } from '../cli/command.ts'
import { reason } from '../ui/files.ts'
import { Cancelled, EXIT, failure, Problem, usage } from '../ui/problem.ts'
import { inXml } from '../ui/xml.ts'

/** The flag of the verbs that write a report. */
export const junitFlag = {
  junit: text('Write a JUnit report: each fault is a test case with line and column', { placeholder: 'FILE' }),
}

interface JunitCase {
  classname: string
  name: string
  line?: string
  /** Undefined if the check passed. */
  fault?: { kind: 'failure' | 'error'; message: string }
}

/**
 * Runs the check and writes its report to `file`, also if the check throws; the error is thrown again. Without `file`
 * it only runs the check. Throws a usage problem for `-`, and a failure if the file cannot be written.
 */
export async function withJunitReport(
  file: string | undefined,
  suite: string,
  check: () => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  if (file === undefined) return check()
  if (file === '-') throw usage('--junit must name a file: standard output is for the answer', { param: '--junit' })
  let outcome: CommandOutcome
  try {
    outcome = await check()
  } catch (error) {
    if (!(error instanceof Cancelled)) writeReport(file, suite, casesOfError(suite, error))
    throw error
  }
  writeReport(file, suite, casesOfOutcome(suite, outcome))
  return outcome
}

function casesOfOutcome(suite: string, { data, text: said, notes, exitCode }: CommandOutcome): JunitCase[] {
  if ((exitCode ?? EXIT.done) === EXIT.done) return [{ classname: suite, name: 'check' }]
  const { faults = [], fault_count } = data as { faults?: readonly MerkleIssue[]; fault_count?: number }
  const message = said ?? notes?.join('\n') ?? 'the check failed'
  const whole: JunitCase = { classname: suite, name: 'check', fault: { kind: 'failure', message } }
  return [whole, ...casesOfIssues(suite, faults, fault_count)]
}

function casesOfError(suite: string, error: unknown): JunitCase[] {
  const message = error instanceof Error ? error.message : String(error)
  const whole: JunitCase = { classname: suite, name: 'check', fault: { kind: 'error', message } }
  if (!(error instanceof Problem)) return [whole]
  const { issues = [], issue_count } = (error.details ?? {}) as { issues?: MerkleIssue[]; issue_count?: number }
  return issues.length === 0 ? [whole] : casesOfIssues(suite, issues, issue_count)
}

function casesOfIssues(suite: string, issues: readonly MerkleIssue[], count = issues.length): JunitCase[] {
  const cases = issues.map(({ position, message }): JunitCase => {
    const fault = { kind: 'failure', message } as const
    const [, name, line, column] = /^(.+):(\d+):(\d+)$/s.exec(position) ?? []
    if (name === undefined || line === undefined) return { classname: suite, name: position || 'check', fault }
    return { classname: name, name: `line ${line}, column ${column}`, line, fault }
  })
  if (count <= issues.length) return cases
  const message = `${count - issues.length} more faults are not listed`
  return [...cases, { classname: suite, name: 'more faults', fault: { kind: 'failure', message } }]
}

/**
 * The report replaces the file in one step, so that a link of that name in a checkout is replaced and never followed.
 */
function writeReport(file: string, suite: string, cases: readonly JunitCase[]): void {
  try {
    writeAtomically(file, junitXml(suite, cases), { mode: 0o644 })
  } catch (error) {
    throw failure(`${file} cannot be written: ${reason(error)}`, { param: '--junit' })
  }
}

function junitXml(suite: string, cases: readonly JunitCase[]): string {
  const of = (kind: string) => cases.filter(({ fault }) => fault?.kind === kind).length
  const counts = `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${inXml(suite)}" ${counts} skipped="0">`,
    ...cases.map(caseXml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseXml({ classname, name, line, fault }: JunitCase): string {
  const place = line === undefined ? '' : ` file="${inXml(classname)}" line="${line}"`
  const head = `    <testcase classname="${inXml(classname)}" name="${inXml(name)}"${place}`
  if (fault === undefined) return `${head}/>`
  return `${head}>\n      <${fault.kind} message="${inXml(fault.message)}" type="check"/>\n    </testcase>`
}
