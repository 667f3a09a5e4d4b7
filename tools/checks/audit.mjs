#!/usr/bin/env node
// Asks the registry for known vulnerabilities of what ships. A registry that does not answer is reported; it is no
// failure.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const asked = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  cwd: join(import.meta.dirname, '../..'),
  encoding: 'utf8',
  timeout: 120_000,
  maxBuffer: 64 * 1024 * 1024,
})

const say = (text) => process.stdout.write(`${text}\n`)

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const report = parsed(asked.stdout || '')
const counts = report.metadata?.vulnerabilities
if (counts === undefined) {
  const why = report.error?.summary || report.message || (asked.error ? asked.error.message : 'it gave no report')
  say(`npm audit: not run, because the registry does not answer (${why.split('\n')[0]})`)
} else {
  const { info, low, moderate, high, critical } = counts
  say(`npm audit: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low, ${info} for information`)
  for (const { name, severity, via } of Object.values(report.vulnerabilities)) {
    const titles = via.filter((cause) => typeof cause === 'object').map(({ title }) => title)
    if (titles.length > 0) say(`  ${severity} ${name}: ${titles.join('; ')}`)
  }
  process.exitCode = critical > 0 ? 1 : 0
}
