/** Errors of the driver as they come, told as errors of the API. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgresError } from '../../src/store/postgres/errors.ts'

/** Errors of two callers of a pool of one connection, to a server that takes it and says nothing. */
async function errorsOfSilence(): Promise<Error[]> {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})))
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  const { port } = server.address() as AddressInfo
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'svc', max: 1, connectionTimeoutMillis: 50 })
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await pool.end()
  })
  const outcomes = await Promise.allSettled([pool.connect(), pool.connect()])
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
}

it('a connection that takes too long is an error with a retry time, for its maker and for those who wait', async () => {
  const errors = await errorsOfSilence()
  expect(errors.map(({ message }) => message)).toEqual([
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
  ])
  for (const error of errors) {
    expect(postgresError(error)).toMatchObject({
      code: 'internal_error',
      message: 'the database cannot be reached: try again',
      retryAfter: 1,
    })
  }
})
