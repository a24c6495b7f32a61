"""The file of who may decide: what is wrong with it is said when the worker starts."""




