callback({"vers": 0.01, "config": {"rate": "perhr", "valueColumns": ["linux", "mswin"], "currencies": ["USD"],
"regions": [
 {"region": "us-east", "footnotes": {"*": "notAvailableForCCorCGPU"}, "instanceTypes": [
  {"type": "gpuCurrentGen", "sizes": [
   {"size": "p5.48xlarge", "valueColumns": [{"name": "linux", "prices": {"USD": "17.5"}}, {"name": "mswin", "prices": {"USD": "30.1"}}]},
   {"size": "g6.xlarge", "valueColumns": [{"name": "linux", "prices": {"USD": "0.8048"}}, {"name": "mswin", "prices": {"USD": "N/A*"}}]},
   {"size": "p4d.24xlarge", "valueColumns": [{"name": "linux", "prices": {"USD": "N/A*"}}, {"name": "mswin", "prices": {"USD": "N/A*"}}]}]}]},
 {"region": "eu-ireland", "footnotes": {}, "instanceTypes": [
  {"type": "gpuCurrentGen", "sizes": [
   {"size": "g5.xlarge", "valueColumns": [{"name": "linux", "prices": {"USD": "0.41"}}]}]}]}]}});
