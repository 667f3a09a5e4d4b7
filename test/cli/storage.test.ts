/** `svc storage copy` and what else the command line says of a bucket: moves between all places, faults, backups, the doctor. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cidOf } from '../../src/storage/cid.ts'
import { large, png } from '../storage/images.ts'
import { runs } from '../support/runs.ts'
import { startS3, variablesOf } from '../support/s3-server.ts'
import { commandLine, type Ran, STACK_FRAME } from './command-line.ts'

const cli = commandLine()
const { svc } = cli

async function folderWith(name: string, ...contents: Uint8Array[]): Promise<{ dataDir: string; cids: string[] }> {
  const dataDir = join(cli.home, name)
  mkdirSync(join(dataDir, 'assets'), { recursive: true, mode: 0o700 })
  const cids = await Promise.all(contents.map(cidOf))
  contents.forEach((bytes, n) => void writeFileSync(join(dataDir, 'assets', cids[n]!), bytes, { mode: 0o600 }))
  return { dataDir, cids }
}

const copied = (ran: Ran) => {
  expect(ran.stderr).not.toContain('not expected')
  expect(ran.stderr).not.toMatch(STACK_FRAME)
  return JSON.parse(ran.stdout)
}

describe('svc storage copy', () => {
  it('moves all assets from the folder to the bucket, from there to the database, and back', async () => {
    const server = await startS3({ pageSize: 2 })
    const { dataDir, cids } = await folderWith('moves', png(), large(600_000), Buffer.from('{"a":1}'))
    const copy = (storage: string) =>
      svc(['storage', 'copy', '--json', '--data-dir', dataDir], {
        env: { ...variablesOf(server.settings), SVC_STORAGE: storage },
      })
    const first = await copy('s3')
    expect([first.exitCode, copied(first)]).toEqual([
      0,
      { to: 's3', from: ['local', 'database'], found: 3, copied: 3, present: 0, damaged: [] },
    ])
    expect(server.keys()).toEqual([...cids].sort())
    expect(copied(await copy('s3'))).toMatchObject({ found: 3, copied: 0, present: 3 })
    // Damaged files in the bucket are repaired, and missing ones are restored.
    server.write(cids[1]!, large(600_001))
    server.remove(cids[0]!)
    expect(copied(await copy('s3'))).toMatchObject({ copied: 2, present: 1, damaged: [] })
    expect(copied(await copy('database'))).toMatchObject({ to: 'database', copied: 3, damaged: [] })

    const other = { ...variablesOf(server.settings), SVC_STORAGE: 'local', SVC_DATA_DIR: join(cli.home, 'fresh') }
    const back = await svc(['storage', 'copy'], { env: other })
    expect(back).toMatchObject({
      exitCode: 0,
      stdout: 'Copied 3 of 3 assets of database and s3 to local; 0 were there.\n',
    })
    expect(readdirSync(join(cli.home, 'fresh', 'assets')).sort()).toEqual([...cids].sort())
  })

  it('names an asset that is damaged everywhere, copies the others, and fails', async () => {
    const server = await startS3()
    const { dataDir, cids } = await folderWith('damaged', png(), large(100))
    writeFileSync(join(dataDir, 'assets', cids[0]!), 'something else')
    const ran = await svc(['storage', 'copy', '--data-dir', dataDir], { env: variablesOf(server.settings) })
    expect([ran.exitCode, ran.stdout]).toEqual([1, 'Copied 1 of 2 assets of local and database to s3; 0 were there.\n'])
    expect(ran.stderr).toContain(`${cids[0]} is damaged in every place: restore it from a backup`)
    expect(server.keys()).toEqual([cids[1]])
  })

  it('stops if the bucket refuses, names the setting to check, and continues when repeated', async () => {
    const server = await startS3()
    const contents = Array.from({ length: 12 }, (_, n) => large(1_000 + n))
    const { dataDir } = await folderWith('stops', ...contents)
    const env = variablesOf(server.settings)
    server.deny('s3:PutObject')
    const ran = await svc(['storage', 'copy', '--data-dir', dataDir], { env })
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toMatch(/does not allow the key of s3\.access-key-id to use s3:PutObject: docs\/storage\.md/)
    expect(ran.stderr).not.toContain('S3TOPSECRET')
    server.deny()
    expect(copied(await svc(['storage', 'copy', '--json', '--data-dir', dataDir], { env }))).toMatchObject({
      copied: 12,
    })
  })

  it('names a missing setting, as every command does', { tags: 'sampled' }, async () => {
    const env = { SVC_STORAGE: 's3' }
    const commands = [
      ['storage', 'copy'],
      ['keys', 'list'],
      ['serve', '--port', '0', '--rpc-port', '0'],
    ]
    for (const command of commands.slice(0, runs(2, 3))) {
      const ran = await (command[0] === 'serve' ? cli.spawned(command, { env }) : svc(command, { env }))
      expect([command[0], ran.exitCode, ran.stdout]).toEqual([command[0], 2, ''])
      expect(ran.stderr).toMatch(/s3\.bucket is missing, and storage is s3\s+.*set SVC_S3_BUCKET/s)
    }
  })
})

describe('svc doctor', () => {
  const bucketLine = async (env: Record<string, string>) =>
    (await svc(['doctor', '-o', 'plain'], { env })).stdout.split('\n').find((line) => line.includes('\tbucket\t')) ??
    null

  it('says whether the bucket can be read and listed', async () => {
    const server = await startS3()
    const env = variablesOf(server.settings)
    expect(await bucketLine({})).toBeNull()
    expect(await bucketLine(env)).toMatch(/^ok\tbucket\tthe bucket launches at 127\.0\.0\.1:\d+ answers/)
    server.deny('s3:ListBucket')
    expect(await bucketLine(env)).toMatch(/^fail\tbucket\t.*use s3:ListBucket/)
    expect(await bucketLine({ ...env, SVC_S3_BUCKET: 'others' })).toMatch(/^fail\tbucket\t.*correct s3\.bucket/)
    expect(await bucketLine({ ...env, SVC_S3_ACCESS_KEY_ID: '' })).toMatch(
      /^fail\tbucket\ts3\.access-key-id is missing/,
    )
    await server.close()
    expect(await bucketLine(env)).toMatch(/^fail\tbucket\t.*refuses connections/)
    expect(server.requests.filter((request) => request.startsWith('PUT'))).toEqual([])
  })

  it('reads only one page of a bucket, and warns of a connection without encryption', async () => {
    const server = await startS3({ pageSize: 1 })
    for (const name of ['a', 'b', 'c', 'd']) server.write(name, png())
    const env = variablesOf(server.settings)
    expect(await bucketLine(env)).toMatch(/^ok\t/)
    expect(server.requests.filter((request) => request === 'GET /launches/')).toHaveLength(1)
    // This leads to the same server, by an address that does not say so.
    const SVC_S3_ENDPOINT = server.url.replace('127.0.0.1', '0.0.0.0')
    expect(await bucketLine({ ...env, SVC_S3_ENDPOINT })).toMatch(
      /^warn\t.*but over http: anyone on the network path can read/,
    )
  })
})

describe('svc db backup', () => {
  it('never claims to include the assets of a bucket', async () => {
    const server = await startS3()
    const env = { ...variablesOf(server.settings), SVC_DATA_DIR: join(cli.home, 'backed-up') }
    expect(await svc(['keys', 'create', '--name', 'one'], { env })).toMatchObject({ exitCode: 0 })
    const refused = await svc(['db', 'backup', 'with-assets', '--include', 'assets'], { env })
    expect({ exitCode: refused.exitCode, stdout: refused.stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toMatch(/cannot include assets/)
    expect(refused.stderr).toMatch(/assets are in the bucket launches: give it versioning or a replica/)
    const all = await svc(['db', 'backup', 'all', '--include', 'all'], { env })
    expect([all.exitCode, all.stderr]).toEqual([
      0,
      expect.stringContaining('Not in this backup: assets are in the bucket launches'),
    ])
    expect(await svc(['storage', 'copy'], { env: { ...env, SVC_STORAGE: 'local' } })).toMatchObject({ exitCode: 0 })
  })
})
