from google.protobuf.json_format import MessageToDict
import pandas as pd
from order_pb2 import Order
def frame(raws):
    df = pd.DataFrame([MessageToDict(Order.FromString(r)) for r in raws])
    return df["coupon"]
