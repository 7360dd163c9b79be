package export

// BeanAccount is beanAccount, for tests.
var BeanAccount = beanAccount
