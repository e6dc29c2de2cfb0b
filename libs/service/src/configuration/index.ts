export {
  ConfigurationError,
  env,
  parseDuration,
  problemsOf,
  type Rate,
  readEnvironment,
} from './environment.ts'
