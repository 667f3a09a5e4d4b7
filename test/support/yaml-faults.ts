/** Faults of YAML that no parser is needed to see. */

/** Faults of one document of plain YAML: block mappings and lists, flow collections that stand on one line. */
export function yamlFaults(document: string): string[] {
  const faults: string[] = []
  const keys = new Map<string, Set<string>>()
  let path: { indent: number; name: string }[] = []
  let item = 0
  for (const [index, line] of document.split('\n').entries()) {
    const [, spaces = '', dash = '', rest = ''] = /^( *)((?:- )*)(.*)$/.exec(line.replace(/(^|\s)#.*$/, ''))!
    if (rest.trim() === '') continue
    const fault = (what: string) => faults.push(`line ${index + 1} ${what}: ${line}`)
    if (spaces.length % 2 === 1) fault('is indented by an odd number of spaces')
    const bare = rest.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '')
    if (/["']/.test(bare.replace(/\w'\w/g, ''))) fault('leaves a quote open')
    for (const [open, close] of ['[]', '{}']) {
      if (bare.split(open!).length !== bare.split(close!).length) fault(`does not close ${open}`)
    }
    const indent = spaces.length + dash.length
    path = path.filter((part) => part.indent < (dash === '' ? indent : spaces.length))
    if (dash !== '') path.push({ indent: spaces.length, name: `item ${item++}` })
    const [, key] = /^([\w./<-]+|"[^"]+"):(?:\s|$)/.exec(rest) ?? []
    if (key === undefined) {
      if (dash === '') fault('is neither a key nor an item of a list')
      continue
    }
    const place = path.map(({ name }) => name).join('.')
    const siblings = keys.get(place) ?? new Set()
    if (siblings.has(key)) fault(`has the key ${key} a second time`)
    keys.set(place, siblings.add(key))
    path.push({ indent, name: key })
  }
  return faults
}
