/** Commands that follow events of daemons that are killed: each event comes once. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandLine } from '../../cli/command-line.ts'
import { makeEvents, started, upTo } from '../../cli/following.ts'
import { expectSigned, newSecret, numbersOf, parsed } from '../../cli/forwarded.ts'
import { startDaemon } from '../../support/daemon.ts'
import { freePort } from '../../support/ports.ts'
import { startReceiver } from '../../support/receiver.ts'

const cli = commandLine()
const sequences = (lines: string[]) => lines.map((line) => JSON.parse(line).sequence as number)

/** Waits until the place file below the XDG state folder has the sequence. */
async function kept(state: string, sequence: number) {
  const files = () => execFileSync('find', [state, '-name', '*.json'], { encoding: 'utf8' }).trim().split('\n')
  await vi.waitFor(() => expect(JSON.parse(readFileSync(files()[0]!, 'utf8')).sequence).toBe(sequence), 5_000)
  expect(statSync(files()[0]!).mode & 0o777).toBe(0o600)
}

describe('svc webhooks listen', () => {
  it('forwards each event once, in order and signed, although the daemon and the command are killed', async () => {
    const dataDir = join(cli.home, 'killed')
    mkdirSync(dataDir)
    const flags = ['--port', String(await freePort()), '--rpc-port', '0']
    let daemon = await startDaemon({ dataDir, flags })
    onTestFinished(() => daemon.stop())
    await makeEvents(daemon, 0, 2)
    const receiver = await startReceiver()
    const env = { SVC_DATA_DIR: dataDir, XDG_STATE_HOME: join(cli.home, 'state') }
    const listen = (...args: string[]) =>
      started(cli, ['webhooks', 'listen', '--forward-to', receiver.url, '--json', ...args], env)

    const first = listen()
    await first.says('after sequence 2')
    const secret = /^Signing secret of this session: (whsec_\S+)$/m.exec(first.stderr())![1]!
    await makeEvents(daemon, 2, 3)
    await first.hasLines(3)
    await daemon.stop('SIGKILL')
    await first.says('trying again until it answers')
    daemon = await startDaemon({ dataDir, flags })
    await makeEvents(daemon, 5, 2)
    await first.hasLines(5)
    await kept(env.XDG_STATE_HOME, 7)
    await first.stopped('SIGKILL')

    await makeEvents(daemon, 7, 2)
    const own = newSecret()
    const second = listen('--secret-file', cli.file('own', `${own}\n`, 0o600))
    await second.hasLines(2)
    await makeEvents(daemon, 9, 1)
    await second.hasLines(3)
    expect(await second.stopped('SIGINT')).toBe(130)

    expect(numbersOf(receiver.all)).toEqual(upTo(10, 3))
    expect([...parsed(first.lines()), ...parsed(second.lines())].map(({ sequence }) => sequence)).toEqual(upTo(10, 3))
    for (const delivered of receiver.all.slice(0, 5)) expectSigned(delivered, secret)
    for (const delivered of receiver.all.slice(5)) expectSigned(delivered, own)
    expect(second.stderr()).not.toContain('whsec_')
    const { data } = (await daemon.request('GET', '/v2/events?order=asc&limit=100')).json
    expect(receiver.all.map(({ body }) => body)).toEqual(data.slice(2).map((event: unknown) => JSON.stringify(event)))
    expect(parsed(first.lines())[0]).toEqual({
      ...data[2],
      forward: { delivered: true, attempts: 1, status: 200, error: null, duration_ms: expect.any(Number) },
    })

    const [again, afresh] = [listen('--from', '8'), started(cli, ['webhooks', 'listen', '--from', 'start'], env)]
    await Promise.all([again.hasLines(2), afresh.hasLines(10)])
    expect(numbersOf(receiver.all.slice(8))).toEqual([9, 10])
    expect(afresh.lines()[9]).toMatch(/^\S+Z {2}#10 {2}airdrop\.tree_built {2}\w+ \S+ {2}evt_\w+$/)
  })
})

describe('svc events watch', () => {
  it('prints each event once although the daemon is killed and started again', async () => {
    const dataDir = join(cli.home, 'tailed')
    mkdirSync(dataDir)
    const flags = ['--port', String(await freePort()), '--rpc-port', '0']
    let daemon = await startDaemon({ dataDir, flags })
    onTestFinished(() => daemon.stop())
    await makeEvents(daemon, 0, 105)

    const tail = (...args: string[]) => started(cli, ['events', 'watch', ...args], { SVC_DATA_DIR: dataDir })
    const all = tail('--since', '0', '--json')
    const late = tail('--since', '103', '-o', 'plain')
    const fresh = tail('--type', 'airdrop.tree_built')
    const other = tail('--type', 'pool.live', '--since', '0')
    await Promise.all([all.hasLines(105), late.hasLines(2), fresh.says('after sequence 105'), other.says('Following')])
    await makeEvents(daemon, 105, 3)
    await Promise.all([all.hasLines(108), fresh.hasLines(3)])

    await makeEvents(daemon, 108, 2)
    await daemon.stop('SIGKILL')
    await Promise.all([all, late, fresh].map(({ says }) => says('trying again until it answers')))
    daemon = await startDaemon({ dataDir, flags })
    await makeEvents(daemon, 110, 3)
    await Promise.all([all.hasLines(113), late.hasLines(10), fresh.hasLines(8)])
    expect(all.stderr()).toContain('warning: http://127.0.0.1:')
    expect(all.stderr()).toContain('answers again')

    const ends = await Promise.all([all, late, fresh, other].map(({ stopped }) => stopped('SIGINT')))
    expect(ends).toEqual([130, 130, 130, 130])
    expect(sequences(all.lines())).toEqual(upTo(113))
    expect(sequences(late.lines())).toEqual(upTo(113, 104))
    expect(fresh.lines()).toHaveLength(8)
    for (const [i, line] of fresh.lines().entries()) {
      expect(line).toMatch(new RegExp(`^\\S+Z  #${106 + i}  airdrop\\.tree_built  \\w+ \\S+  evt_\\w+$`))
    }
    expect(other.lines()).toEqual([])
  })
})
