export {
  ConfigurationError,
  confidential,
  env,
  parseDuration,
  problemsOf,
  type Rate,
  readEnvironment,
} from './environment.ts'
