/** Reads what the monitoring examples and /metrics are made of: rules, expressions and the text format of Prometheus. */

/** The alerts of examples/monitoring, in the order of their rules. */
export const ALERTS = [
  'SvcDown',
  'SvcNotReady',
  'SvcWorkersUnhealthy',
  'SvcDeliveriesBehind',
  'SvcDeliveriesFailing',
  'SvcTransactionsStuck',
  'SvcRpcErrors',
  'SvcSignerFailing',
  'SvcSignerBalanceLow',
  'SvcSpendNearPolicy',
  'SvcDatabasePoolWaits',
  'SvcDiskGrowth',
  'SvcEventLoopLag',
  'SvcHttpErrors',
  'SvcNeedsAPerson',
]

export interface Rule {
  alert: string
  expr: string
  for: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** Metric names with the labels of their samples, and their types. */
export interface Exposition {
  types: Map<string, string>
  labels: Map<string, Set<string>>
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/

/** Throws for a line that is not in Prometheus' text format. */
export function readExposition(texts: readonly string[]): Exposition {
  const types = new Map<string, string>()
  const labels = new Map<string, Set<string>>()
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const [, typed, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (typed !== undefined && type !== undefined) types.set(typed, type)
    if (line === '' || line.startsWith('#')) continue
    const [, name, pairs = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined || !/^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i.test(value ?? ''))
      throw new Error(`no sample: ${line}`)
    const known = labels.get(name) ?? new Set()
    labels.set(name, known)
    for (const [, label] of pairs.matchAll(/([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)) known.add(label ?? '')
  }
  return { types, labels }
}

/** The series of a metric as `label="value"` texts with their values. */
export function samplesOf(text: string, name: string): { labels: string; value: number }[] {
  return text.split('\n').flatMap((line) => {
    const [, found, labels = '', value] = SAMPLE.exec(line) ?? []
    return found === name ? [{ labels, value: Number(value) }] : []
  })
}

/** PromQL's own words. */
const WORDS = new Set(['by', 'without', 'or', 'and', 'unless', 'on', 'ignoring', 'group_left', 'group_right', 'bool'])
/** Labels that Prometheus adds itself. */
const SCRAPE_LABELS = ['job', 'instance']

export interface UsedMetric {
  name: string
  labels: string[]
}

/** The metrics of an expression with the labels that it selects; throws where brackets do not fit. */
export const metricsIn = (expression: string): UsedMetric[] =>
  expression.split(/\s(?:or|and|unless)\s/).flatMap(metricsOfOperand)

function metricsOfOperand(expression: string): UsedMetric[] {
  const open: string[] = []
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  for (const sign of bare) {
    if ('([{'.includes(sign)) open.push(sign)
    const pair = { ')': '(', ']': '[', '}': '{' }[sign]
    if (pair !== undefined && open.pop() !== pair) throw new Error(`brackets do not fit: ${expression}`)
  }
  if (open.length > 0) throw new Error(`brackets do not fit: ${expression}`)
  const grouped = [...bare.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, names]) =>
    (names ?? '').split(',').map((name) => name.trim()),
  )
  const selectors = bare.replace(/\b(?:by|without)\s*\([^)]*\)/g, '').replace(/\[[^\]]*\]/g, '')
  const used = [...selectors.matchAll(/\b([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g)].flatMap(
    ([, name = '', matchers = '', call]) => {
      if (call !== undefined || WORDS.has(name) || /^\d|^e\d+$/.test(name)) return []
      return [
        { name, labels: [...matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label) },
      ]
    },
  )
  if (used.length === 0) throw new Error(`no metric: ${expression}`)
  return used.map(({ name, labels }) => ({
    name,
    labels: [...new Set([...labels, ...grouped])].filter((label) => !SCRAPE_LABELS.includes(label)),
  }))
}

/**
 * Reads alert rules in the YAML that the examples keep to: two spaces a level, plain or double-quoted texts on one line,
 * and `>-` for folded ones. Throws for any other line.
 */
export function readRules(yaml: string): Rule[] {
  const rules: Rule[] = []
  let section: Record<string, string> = {}
  let folded: ((line: string) => void) | undefined
  for (const line of yaml.split('\n')) {
    if (line.trim() === '' || line.startsWith('#') || /^groups:$|^ {2}- name: svc$|^ {4}rules:$/.test(line)) continue
    const [, indent = '', dash = '', key, value] = /^( +)(- )?(\w+):(?: (.*))?$/.exec(line) ?? []
    if (folded !== undefined && /^ {10}\S/.test(line)) {
      folded(line.trim())
      continue
    }
    folded = undefined
    if (key === undefined) throw new Error(`not understood: ${line}`)
    const depth = indent.length + dash.length
    if (dash !== '' && depth === 8 && key === 'alert') {
      rules.push({ alert: scalar(value, line), expr: '', for: '', labels: {}, annotations: {} })
      continue
    }
    const rule = rules.at(-1)
    if (rule === undefined || dash !== '') throw new Error(`not understood: ${line}`)
    if (depth === 8 && (key === 'labels' || key === 'annotations') && value === undefined) section = rule[key]
    else if (depth === 8 && key === 'expr' && value === '>-') {
      folded = (part) => {
        rule.expr = `${rule.expr} ${part}`.trim()
      }
    } else if (depth === 8 && (key === 'expr' || key === 'for')) rule[key] = scalar(value, line)
    else if (depth === 10) section[key] = scalar(value, line)
    else throw new Error(`not understood: ${line}`)
  }
  return rules
}

function scalar(value: string | undefined, line: string): string {
  if (value === undefined || value === '') throw new Error(`no value: ${line}`)
  if (value.startsWith('"')) return JSON.parse(value) as string
  if (/^[&*!|>%@`'[\]{}#,?-]|: | #/.test(value)) throw new Error(`to be quoted: ${line}`)
  return value
}
