/** What the log keeps of an error: where it came from and why, and no credential. */
import { describe, expect, it } from 'vitest'
import { loggedError } from '../../daemon/log.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { shapeRedactor } from '../../src/settings/redaction.ts'

describe('a logged error', () => {
  it('has its stack and its causes without the credentials in them', () => {
    const cause = new Error('connect https://rpc.example.com/?api-key=s3cr3t as svc_live_abcDEF123')
    const error = new ApiError('internal_error', 'postgres://svc:hunter2@10.0.0.1/db does not answer', { cause })
    const text = JSON.stringify(loggedError(error, shapeRedactor))
    expect(text).toContain('postgres://***@10.0.0.1/db does not answer')
    expect(text).toContain('api-key=***')
    expect(text).toContain('log.test.ts')
    expect(text).not.toMatch(/hunter2|s3cr3t|abcDEF123/)
  })

  it('has no stack if it says when to retry, because the fault is elsewhere', () => {
    const cause = new Error('canceling statement due to lock timeout')
    const error = new ApiError('internal_error', 'database is busy', { cause, retryAfter: 1 })
    expect(loggedError(error, shapeRedactor)).toEqual({
      type: 'ApiError',
      message: 'database is busy: canceling statement due to lock timeout',
      code: 'internal_error',
    })
  })

  it('keeps the code of a system error, and none of its other fields', () => {
    const error = Object.assign(new Error('no'), { code: 'ECONNREFUSED', config: { authorization: 'Bearer x' } })
    const logged = loggedError(error, shapeRedactor)
    expect(logged).toMatchObject({ type: 'Error', message: 'no', code: 'ECONNREFUSED' })
    expect(JSON.stringify(logged)).not.toContain('Bearer')
  })

  it('is its text if the thrown value is not an error', () => {
    expect(loggedError('svc_live_abcDEF123 failed', shapeRedactor)).toBe('svc_live_*** failed')
  })
})
