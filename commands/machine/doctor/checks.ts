/** Makes the lines of `svc doctor`: what was checked, the result, and how to correct it. */
import { ApiError } from '../../../src/platform/errors.ts'
import type { DoctorCheck } from '../../cli/session.ts'

export const passedCheck = (check: string, detail: string): DoctorCheck => ({ check, status: 'ok', detail, fix: null })
export const warningCheck = (check: string, detail: string, fix: string): DoctorCheck => ({
  check,
  status: 'warn',
  detail,
  fix,
})
export const failedCheck = (check: string, detail: string, fix: string): DoctorCheck => ({
  check,
  status: 'fail',
  detail,
  fix,
})

export const errorText = (error: unknown) =>
  error instanceof ApiError || error instanceof Error ? error.message : String(error)
