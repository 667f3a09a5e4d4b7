/** Questions of commands: what is asked, how answers are judged, and the one command line that says the same. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { declaredInputs, readInput } from '../../commands/cli/input-values.ts'
import { readInputs } from '../../commands/cli/inputs.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { flagName, type ParsedCommand } from '../../commands/cli/parsed-command.ts'
import { readCommand } from '../../commands/cli/program.ts'
import { answeredCommandLine, openFieldChecks } from '../../commands/cli/questions.ts'
import { shellWords } from '../../commands/cli/shell-words.ts'
import { Cancelled } from '../../commands/ui/problem.ts'
import type { Question, Ui } from '../../commands/ui/ui.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'

const verbs: [command: string, verb: Verb][] = []
for (const { name, load } of NOUNS) {
  const noun = await load()
  if ('verb' in noun) verbs.push([name, noun.verb])
  else for (const [verb, declared] of Object.entries(noun.verbs)) verbs.push([`${name} ${verb}`, declared])
}

const LAST = 'no more words of this line'
/** The words of command lines as a shell reads them; one shell reads all of them. */
function wordsOfAll(lines: readonly string[]): string[][] {
  const input = ['set -f', ...lines.map((line) => `printf '%s\\0' ${line} '${LAST}'`)].join('\n')
  const words = execFileSync('sh', [], { encoding: 'utf8', input }).split(`${LAST}\0`).slice(0, -1)
  return words.map((each) => each.split('\0').slice(0, -1))
}
const wordsOf = (line: string) => shellWords(line, (what) => new Error(what))

/** The examples that a shell takes as one command, parsed, by verb. */
const plain = verbs.flatMap(([, verb]) =>
  verb.examples.filter((line) => /^svc [^<>|&;$`]*$/.test(line)).map((line): [Verb, string] => [verb, line]),
)
const examples = new Map<Verb, ParsedCommand[]>(verbs.map(([, verb]) => [verb, []]))
for (const [at, words] of wordsOfAll(plain.map(([, line]) => line)).entries()) {
  const parsed = await readCommand(words.slice(1))
  if ('verb' in parsed) examples.get(plain[at]![0])!.push(parsed)
}

/** Flags as they are typed. */
const typedFlags = (raw: ParsedCommand['raw']): string[] =>
  Object.entries(raw).flatMap(([key, value]) =>
    value === true ? [flagName(key)] : [value ?? []].flat().flatMap((each) => [flagName(key), String(each)]),
  )

/** Answers each question with what its declaration is called by, and keeps what was noted. */
function answering(answers: Record<string, string>) {
  const asked: Question[] = []
  const notes: string[] = []
  const ui = {
    interactive: true,
    async ask(question: Question) {
      asked.push(question)
      const [, answer = ''] =
        Object.entries(answers)
          .toSorted(([one], [other]) => other.length - one.length)
          .find(([about]) => question.message.startsWith(about)) ?? []
      // The files of the examples are not here.
      expect(question.check(answer)?.replace(/^there is no file .*/, '') ?? '', question.message).toBe('')
      return answer
    },
    note: (text: string) => void notes.push(text),
  } as unknown as Ui
  return { ui, asked, notes }
}

describe('The questions of', () => {
  const asking = verbs.filter(([, verb]) => declaredInputs(verb).some(([, { required }]) => required))

  it('commands are asked in more than 60 verbs', () => expect(asking.length).toBeGreaterThan(60))

  it.each(asking)('svc %s accept what its examples say, and lead to the same command', async (command, verb) => {
    process.env.SVC_DATA_DIR = '/nonexistent'
    for (const example of examples.get(verb)!) {
      const given = declaredInputs(verb).filter(([key, { required }]) => required && example.raw[key] !== undefined)
      const answers = Object.fromEntries(given.map(([key, { about }]) => [about, [example.raw[key]].flat().join(',')]))
      const rest = Object.fromEntries(
        Object.entries(example.raw).filter(
          ([key]) => !given.some(([own]) => own === key) && (key in verb.flags || verb.needs.flat().includes(key)),
        ),
      )
      const flags = Object.fromEntries(Object.entries(rest).filter(([key]) => key in verb.flags))
      const operands = Object.entries(rest).flatMap(([key, value]) =>
        key in verb.args && value ? [String(value)] : [],
      )
      const { ui, asked, notes } = answering(answers)
      const bare: ParsedCommand = { ...example, raw: rest }
      const argv = [...command.split(' '), ...operands, ...typedFlags(flags)]
      const inputs = await readInputs(bare, { argv, ui })
      const direct = await readInputs(example, { argv, ui })
      for (const [key] of given) expect(inputs[key], key).toEqual(direct[key])
      expect(asked.length).toBeGreaterThanOrEqual(given.length)
      if (given.length === 0) continue
      const line = /^The same as one command:\n {2}(.*)$/s.exec(notes[0] ?? '')?.[1] ?? ''
      const again = await readCommand(wordsOf(line).slice(1))
      if (!('verb' in again)) throw new Error(`${line} is no command`)
      const typed = await readInputs(again, { argv, ui })
      for (const [key] of given) expect(typed[key], line).toEqual(direct[key])
    }
  })
})

it('Values of the examples pass the schema of their fields, and wrong ones do not', async () => {
  let judged = 0
  for (const [, verb] of verbs) {
    const check = await openFieldChecks(verb)
    for (const { raw } of examples.get(verb)!) {
      for (const [key, input] of declaredInputs(verb)) {
        if (raw[key] === undefined || !(input.required || input.asked)) continue
        expect(check(key, input, readInput(key, input, raw[key], key)), `${key} ${raw[key]}`).toBeUndefined()
        if (check(key, input, '\0 wrong') !== undefined) judged++
      }
    }
  }
  expect(judged).toBeGreaterThan(100)
})

it('An amount is judged as it is typed, and a file that is not there too', async () => {
  const verbOf = (name: string) => verbs.find(([command]) => command === name)![1]
  const launch = verbOf('pools create')
  const check = await openFieldChecks(launch)
  const { buy } = launch.flags
  expect([check('buy', buy!, '1.5'), check('buy', buy!, '1,5')]).toEqual([
    undefined,
    'it must be an amount like 1.5, not "1,5"',
  ])
  const budget = verbOf('airdrops sponsor').flags.budget!
  expect(check('budget', budget, '0.0000000001')).toMatch(/more than 9 fractional digits/)
  const send = await readCommand(['airdrops', 'send'])
  if (!('verb' in send)) throw new Error('airdrops send is no command')
  const judged: (string | undefined)[] = []
  const ui = {
    interactive: true,
    note: () => {},
    ask: async ({ check: isWrong }: Question) => {
      judged.push(...['none.csv', '/', '-'].map((name) => isWrong(name)))
      throw new Cancelled()
    },
  } as unknown as Ui
  await expect(readInputs(send, { argv: ['airdrops', 'send'], ui })).rejects.toThrow(Cancelled)
  expect(judged).toEqual(['there is no file none.csv', '/ is a folder', undefined])
})

it('An answer is quoted so that a shell reads the same answer', () => {
  const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))
  // One shell for all of them.
  const answers = fc.sample(fc.array(word, { minLength: 1 }), 50)
  expect(wordsOfAll(answers.map((words) => words.map(shellQuoted).join(' ')))).toEqual(answers)
  const revoke = verbs.find(([command]) => command === 'tokens revoke')![1]
  const line = answeredCommandLine(
    revoke,
    ['tokens', 'revoke'],
    [
      ['mint', '-x'],
      ['keypair', '-k file'],
      ['type', "it's"],
    ],
  )
  expect(line).toBe("svc tokens revoke '--keypair=-k file' -- -x 'it'\\''s'")
})
