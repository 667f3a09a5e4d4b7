/** docs/self-hosting.md and the README of examples/deploy: their commands exist, and each alert has its section. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NOUNS } from '../commands/cli/nouns.ts'
import { readCommand } from '../commands/cli/program.ts'
import { ROOT } from '../tools/source.ts'
import { ALERTS } from './support/monitoring.ts'

const GUIDE = 'docs/self-hosting.md'
const RULES = 'examples/monitoring/alerts.yaml'
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

describe('commands in the pages on self-hosting', () => {
  const NOUN_NAMES = NOUNS.map(({ name }) => name).join('|')
  const WORDS = new RegExp(`(?:^|\\s)svc ((?:${NOUN_NAMES})\\b[^|>&\\n\`]*)`, 'g')
  const shown = ['examples/deploy/README.md', GUIDE].flatMap((file) => [
    ...[...read(file).matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => [...block!.matchAll(WORDS)]),
    ...[...read(file).matchAll(/`(svc [^`]+)`/g)].flatMap(([, text]) => [...text!.matchAll(WORDS)]),
  ])
  const commands = [...new Set(shown.map(([, words]) => words!.trim()))]

  it('are found', () => expect(commands.length).toBeGreaterThan(12))

  it.each(commands)('svc %s exists, with its flags', async (words) => {
    await expect(readCommand(words.split(/\s+/))).resolves.toHaveProperty('verb')
  })
})

describe('the runbook', () => {
  const guide = read(GUIDE)
  const anchors = [...guide.matchAll(/^#{2,4} (.+)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-'))

  it('has a section for each alert, and its links work', () => {
    expect(anchors.filter((anchor) => anchor.startsWith('alert-'))).toEqual(
      ALERTS.map((name) => `alert-${name.toLowerCase()}`),
    )
    const links = [...guide.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!)
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([])
  })

  it('has the alerts of examples/monitoring', () => {
    const names = [...read(RULES).matchAll(/^\s*- alert: (\w+)$/gm)].map(([, name]) => name!)
    expect(names).toEqual(ALERTS)
  })

  it('links to anchors that exist on the other pages', () => {
    const links = [...guide.matchAll(/\]\((\w[\w-]*\.md)#([^)]+)\)/g)]
    expect(links.length).toBeGreaterThan(2)
    const missing = links.filter(([, file, anchor]) => {
      const titles = [...read(`docs/${file}`).matchAll(/^##+ (.+)$/gm)].map(([, title]) =>
        title!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      )
      return !titles.includes(anchor!)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })
})
